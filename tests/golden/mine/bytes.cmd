# A run takes at most 100 bytes of the file for a sequence; a report of it is that of one not stored.
# Long: it mines a real program.
seq 1 20000 >numbers
lode run --exact --report report.txt -o x.lode -- gzip -kc numbers >/dev/null
cp x.lode before.lode
before=$(stat -c %s x.lode)
n=$(lode mine x.lode 2>/dev/null | sed -n 's/ sequences in.*//; s/,//g; 1p')
bytes=$(($(stat -c %s x.lode) - before))
[ "$n" -gt 20000 ]
[ "$bytes" -le $((100 * n)) ] || echo "$bytes bytes for $n sequences"
# The first one mines, the second one reads.
lode report before.lode --all --limit 20000 --format csv >fresh 2>/dev/null
lode report before.lode --all --limit 20000 --format csv | cmp - fresh
lode report x.lode --all --limit 20000 --format csv | cmp - fresh
