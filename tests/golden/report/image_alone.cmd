lode report x.lode --image libc
