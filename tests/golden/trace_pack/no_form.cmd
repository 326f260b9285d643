printf ' L 00000001,1\n' >x
lode trace pack x -o x.rps --form dim
