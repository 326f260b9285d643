echo no trace >x.rps
lode trace simulate x.rps --cache d1=4K:2:64
