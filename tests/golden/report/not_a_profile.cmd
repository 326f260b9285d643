echo hello >x.lode
lode report x.lode
