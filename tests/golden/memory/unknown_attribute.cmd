printf 'kind,address,size\nfetch,0x1000,4\nload,0x2000,8\n' >x.csv
lode trace pack x.csv -o x.rps >/dev/null
lode import x.rps -o x.lode >/dev/null
lode memory x.lode --where 'funktion =~ "^parse"'
