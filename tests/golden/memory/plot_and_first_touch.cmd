lode memory x.lode --first-touch --plot x.png
