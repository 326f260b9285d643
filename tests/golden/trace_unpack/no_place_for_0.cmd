printf ' L 00000000,1\n' | lode trace pack - -o x.rps >/dev/null
lode trace unpack x.rps --form champsim -o y || ls
