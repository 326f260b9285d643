lode import nothing.out -o x.lode
