printf 'I  00001000,3\n' >text
lode trace pack text -o x.rps >/dev/null
lode trace unpack x.rps --threads 100000
