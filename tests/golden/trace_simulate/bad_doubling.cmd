printf '' | lode trace pack - -o x.rps >/dev/null
lode trace simulate x.rps --cache d1=8K..24K:8:64
