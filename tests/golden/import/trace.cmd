cat >x.csv <<'CSV'
kind,address,size,thread
fetch,0x1000,4,0
load,0x8000,8,0
fetch,0x1004,4,0
store,0x8000,8,0
fetch,0x1000,4,1
load,0x9000,8,1
fetch,0x1004,4,1
modify,0x9040,8,1
CSV
lode trace pack x.csv -o x.rps --command 'prog 7' >/dev/null
lode import x.rps --simulate d1=128:2:64,l2=1K:2:64 -o x.lode
lode info x.lode --format csv | grep -E '^(profile|quality|event|data address|unresolved)'
lode memory x.lode --event l1d-miss --by thread
