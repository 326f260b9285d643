# There are two, and one finding.
caused
lode report x.lode F2 || echo "status $?"
lode report x.lode D3
