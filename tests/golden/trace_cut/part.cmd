for i in $(seq 300); do printf 'I  %08x,3\n L %08x,8\n' $((i % 7 * 3)) $((i * 64)); done >text
lode trace pack text -o x.rps --command 'prog arg' >/dev/null
lode trace cut x.rps --from 101 --count 333 -o y.rps
cmp <(lode trace unpack y.rps) <(tail -n +102 text | head -n 333)
lode trace info y.rps | head -12
cmp <(lode trace simulate x.rps --from 101 --count 333 --cache d1=1K:2:64 --format csv) \
	<(lode trace simulate y.rps --cache d1=1K:2:64 --format csv)
lode trace simulate x.rps --from 101 --count 333 --warm-up 40 --cache d1=1K:2:64
lode trace info x.rps --from 101 --count 333 | sed -n '/References/,/^$/p'
