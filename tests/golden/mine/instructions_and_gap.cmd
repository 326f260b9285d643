# Instruction sequences have their own thresholds, and no gaps.
lode mine --instructions --min-count 3 --gap 1 x.lode || status=$?
lode mine --instructions x.lode || status=$?
lode mine --max-length 3 x.lode || status=$?
lode mine --mpi --no-mpi x.lode || status=$?
exit "$status"
