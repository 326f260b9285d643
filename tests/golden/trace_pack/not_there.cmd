lode trace pack not-there -o x.rps
