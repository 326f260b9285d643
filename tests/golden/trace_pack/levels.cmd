# What comes out is the same, whatever the level and the number of threads.
for i in $(seq 1000); do printf 'I  %08x,3\n L %08x,8\n' $((i % 7 * 3)) $((i * 64)); done >text
for level in fast default small; do
	for threads in 1 2; do
		lode trace pack text -o $threads.rps --level $level --threads $threads >/dev/null
		lode trace unpack $threads.rps | cmp - text
	done
	cmp 1.rps 2.rps
done
