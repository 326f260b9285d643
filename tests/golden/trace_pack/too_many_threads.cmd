printf 'I  00001000,3\n' >text
lode trace pack text -o x.rps --threads 100000
