printf '==1== Lackey\nI  00000001,1\nHello, world\n' >x
lode trace pack x -o x.rps || ls
