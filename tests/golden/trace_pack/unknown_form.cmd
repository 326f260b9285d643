echo hello | lode trace pack - -o x.rps
