mkdir empty
status=0
lode import empty -o x.lode || status=$?
ls
exit $status
