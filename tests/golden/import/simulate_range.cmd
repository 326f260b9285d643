lode import x.rps --simulate d1=8K..1M:8:64 -o x.lode
