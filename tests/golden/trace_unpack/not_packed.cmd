for i in 1 2 3 4; do echo 'I  0401ab70,3'; done >x.txt
lode trace unpack x.txt
