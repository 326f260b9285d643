printf ' L 00000001,1\n' | lode trace pack - -o x.rps >/dev/null
lode trace unpack x.rps --form din -o -
ls
