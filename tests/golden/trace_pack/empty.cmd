lode trace pack - -o x.rps </dev/null | sed -E 's/in [0-9,]+ bytes/in N bytes/'
lode trace unpack x.rps
lode trace info x.rps --verify
