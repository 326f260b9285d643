echo hello >x.txt
status=0
lode import x.txt -o x.lode || status=$?
ls
exit $status
