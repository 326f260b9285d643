for i in $(seq 300); do printf 'I  %08x,3\n L %08x,8\n' $((i % 7 * 3)) $((i * 64)); done >text
lode trace pack text -o x.rps >/dev/null
for from in 0 1 299 598 600; do
	for count in 0 1 7 1000; do
		lode trace unpack x.rps --from $from --count $count -o part
		cmp part <(tail -n +$((from + 1)) text | head -n $count)
	done
done
lode trace unpack x.rps --from 601
