# Cut inside its only frame: there is nothing to be told, and no profile.
printf 'kind,address,size\nfetch,0x1000,4\nload,0x8000,8\n' | lode trace pack - --form csv -o x.rps >/dev/null
head -c 30 x.rps >y.rps
status=0
lode import y.rps --simulate d1=1K:2:64 -o y.lode || status=$?
ls
exit $status
