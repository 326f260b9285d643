printf ' L 00000001,1\n' | lode trace pack - -o x.rps >/dev/null
printf ' L 00000002,1\n' | lode trace pack - -o x.rps --level fast >/dev/null
lode trace unpack x.rps
ls
