lode memory x.lode --by object --first-touch
