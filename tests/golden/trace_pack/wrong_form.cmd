printf ' L 00000001,1\n' | lode trace pack - -o x.rps --form champsim
