status=0
lode import "$DATA/flow/pairs.flow" --jit perf-7.map -o x.lode || status=$?
exit $status
