# In a charset that lacks signs of ours, others stand in for them.
export LC_ALL=C
lode mine --help | sed -n 1p
lode trace unpack --help | grep dineroIV
mined --min-support 5%
lode report x.lode --all --limit 3
lode report x.lode --limit 2
