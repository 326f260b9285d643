mkfifo x
lode import x -o x.lode
