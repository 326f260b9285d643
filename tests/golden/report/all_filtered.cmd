mined --min-support 0.05 --iterations 3
lode report x.lode --all --with 'ev:*' --without 'loop:*' --sort weight --size 1-2 --limit 5
