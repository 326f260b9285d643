# Of three threads two store, one to bytes of its own: whose store each miss was due to.
awk 'BEGIN { print "kind,address,size,thread"
	for (n = 0; n < 300; n++) {
		print "fetch," 4096 + 16 * (n % 3) ",4," n % 3
		print (n % 3 == 2 ? "load," : "store,") 32768 + 8 * (n % 3 == 1) ",8," n % 3 } }' |
	lode trace pack - --form csv -o x.rps >/dev/null
lode trace simulate x.rps --cache d1=1K:2:64,cores=3 --sharing
lode trace simulate x.rps --cache d1=1K:2:64,cores=3 --sharing --format csv
lode trace simulate x.rps --cache d1=1K:2:64,cores=3 --sharing --format json
