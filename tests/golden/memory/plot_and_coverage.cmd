lode memory x.lode --coverage --plot x.png
