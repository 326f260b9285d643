status=0
lode import x.rps --simulate d1=32K:7:banana -o x.lode || status=$?
exit $status
