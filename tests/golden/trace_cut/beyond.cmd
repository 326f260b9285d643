printf ' L 00000001,1\n' | lode trace pack - -o x.rps >/dev/null
lode trace cut x.rps --from 2 -o y.rps || ls
