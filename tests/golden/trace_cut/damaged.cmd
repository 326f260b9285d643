for i in $(seq 300); do printf 'I  %08x,3\n L %08x,8\n' $((i % 7 * 3)) $((i * 64)); done |
	lode trace pack - -o x.rps >/dev/null
truncate -s -20 x.rps
lode trace cut x.rps --count 10 -o y.rps || lode trace unpack y.rps
