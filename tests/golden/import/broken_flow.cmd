sed 's/^v add 300 100/v add 300 -100/' "$DATA/flow/pairs.flow" >broken.flow
status=0
lode import broken.flow -o x.lode || status=$?
ls
exit $status
