lode trace pack x -o x.rps --level best
