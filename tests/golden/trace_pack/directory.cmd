mkdir d
lode trace pack d -o x.rps
