# Two threads that write neighbouring words in turn: on one core nothing is shared.
awk 'BEGIN { print "kind,address,size,thread"
	for (n = 0; n < 200; n++) {
		print "fetch,0x1000,4," n % 2
		print "store," 32768 + 8 * (n % 2) ",8," n % 2 } }' |
	lode trace pack - --form csv -o x.rps >/dev/null
lode trace simulate x.rps --cache d1=1K:2:64 --classify --format csv
lode trace simulate x.rps --cache apple-m1 --classify >/dev/null
lode trace simulate x.rps --cache apple-m1,cores=2 --classify --format csv
