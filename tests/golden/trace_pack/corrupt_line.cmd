printf ' L 00000001,1\n L 00000002\n' >x
lode trace pack x -o x.rps || ls
