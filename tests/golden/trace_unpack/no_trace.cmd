echo hello >x.rps
lode trace unpack x.rps
