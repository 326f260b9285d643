# Cut behind its only frame, so that all references are there.
awk 'BEGIN { for (n = 0; n < 1024; n++) {
	print "I  00401000,4\n L " sprintf("%08x", 8388608 + 64 * (n % 256)) ",8"
	print "I  00401004,3\nI  00401007,4\n S 1fff000718,8\nI  0040100b,2" } }' |
	lode trace pack - -o x.rps --command './loop 4' >/dev/null
size=$(stat -c %s x.rps)
head -c $((size - 100)) x.rps >cut.rps
status=0
lode import cut.rps -o cut.lode 2>err || status=$?
sed "s/[0-9][0-9,]*/N/g" err
echo "status $status"
lode info cut.lode --format csv | grep '^unresolved,the trace' | sed "s/[0-9][0-9,]*/N/g"
