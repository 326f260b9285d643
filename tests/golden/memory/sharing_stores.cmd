# Two threads store to bytes of their own in a line of 64 bytes: the profile knows whose store each miss was due to, also where lines are looked at that hold but one of them.
awk 'BEGIN { print "kind,address,size,thread"
	for (n = 0; n < 200; n++) {
		print "fetch," 4096 + 16 * (n % 2) ",4," n % 2
		print "store," 32768 + 32 * (n % 2) ",8," n % 2 } }' |
	lode trace pack - --form csv -o x.rps >/dev/null
lode import x.rps --simulate d1=1K:2:64,cores=2 --classify -o x.lode >/dev/null
lode memory x.lode --sharing | grep -v '^Misses'
lode memory x.lode --sharing --format json | grep -A 1 -F '"due_to":['
lode memory x.lode --sharing --granularity 16 | grep -v '^Misses'
lode memory x.lode --sharing --granularity 16 --format csv | cut -d, -f 1,17-19,36-
