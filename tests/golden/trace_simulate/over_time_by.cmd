# A loop that reads 16 KiB line by line, four times, and writes one place on the stack each time.
awk 'BEGIN { for (n = 0; n < 1024; n++) {
	print "I  00401000,4\n L " sprintf("%08x", 8388608 + 64 * (n % 256)) ",8"
	print "I  00401004,3\nI  00401007,4\n S 1fff000718,8\nI  0040100b,2" } }' |
	lode trace pack - -o x.rps --command './loop 4' >/dev/null
lode trace simulate x.rps --by line --over-time 2
