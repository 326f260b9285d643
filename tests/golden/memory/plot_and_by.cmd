lode memory x.lode --by object --plot x.png
