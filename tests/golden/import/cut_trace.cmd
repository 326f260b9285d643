printf 'kind,address,size\nfetch,0x1000,4\nload,0x8000,8\n' | lode trace pack - --form csv -o x.rps >/dev/null
head -c 30 x.rps >y.rps
lode import y.rps -o y.lode
lode info y.lode --format csv | grep '^unresolved'
