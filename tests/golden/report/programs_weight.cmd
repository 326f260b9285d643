mined --min-support 5%
lode report x.lode --programs --weight latency || true
lode report x.lode --functions --own '*'
