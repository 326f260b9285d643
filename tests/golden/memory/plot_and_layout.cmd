lode memory x.lode --layout int --plot x.png
