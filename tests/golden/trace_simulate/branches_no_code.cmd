# Of a trace without mappings it is not known which instructions are branches.
awk 'BEGIN { for (n = 0; n < 100; n++)
	print "I  00401000,4\nI  00401004,3\nI  00401007,4\nI  0040100b,2" }' |
	lode trace pack - -o x.rps --command './loop 4' >/dev/null
lode trace simulate x.rps --branches tage
