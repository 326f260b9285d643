mined --min-support 0.05 --iterations 2
lode report x.lode --all --sort sequence --baseline 1 --limit 5
