mined --min-support 0.05 --iterations 3
lode report x.lode --with kind:laod --without stroe --limit 1
