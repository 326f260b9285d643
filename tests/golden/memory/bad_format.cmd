lode memory x.lode --format xml
