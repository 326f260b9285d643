lode trace pack a.txt b.txt -o x.rps
