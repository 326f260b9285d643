lode trace pack -o x.rps
