mined --instructions --min-count 5
lode report x.lode --explain
