printf 'kind,address,size\nfetch,0x1000,4\n' | lode trace pack - --form csv -o x.rps >/dev/null
status=0
lode import x.rps x.rps -o x.lode || status=$?
ls
exit $status
