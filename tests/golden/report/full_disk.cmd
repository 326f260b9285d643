mined --min-support 0.05 --iterations 2
lode report x.lode --all --format json >/dev/full
