# A loop that reads 16 KiB line by line, four times, and writes one place on the stack each time.
awk 'BEGIN { for (n = 0; n < 1024; n++) {
	print "I  00401000,4\n L " sprintf("%08x", 8388608 + 64 * (n % 256)) ",8"
	print "I  00401004,3\nI  00401007,4\n S 1fff000718,8\nI  0040100b,2" } }' |
	lode trace pack - -o x.rps --command './loop 4' >/dev/null
# No mappings are known, so that nothing has a name.
lode trace simulate x.rps --cache i1=1K:2:64,d1=4K:2:64,l2=32K:4:64 --by function
lode trace simulate x.rps --cache i1=1K:2:64,d1=4K:2:64,l2=32K:4:64 --by instruction --event l1d-miss --top 1
lode trace simulate x.rps --cache d1=4K:2:64 --by object --format json --plot-objects o.svg
head -c 5 o.svg; echo
