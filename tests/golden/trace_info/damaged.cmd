for i in $(seq 300); do printf 'I  %08x,3\n L %08x,8\n' $((i % 7 * 3)) $((i * 64)); done >text
lode trace pack text -o x.rps >/dev/null
lode trace info x.rps --verify
# Without its last byte the index is lost, and no reference.
head -c -1 x.rps >cut.rps
{ lode trace unpack cut.rps 2>/dev/null || true; } | cmp - text
lode trace info cut.rps --verify 2>error || sed -E 's/[0-9]+/N/g' error
{ lode trace info cut.rps 2>/dev/null || true; } | grep -E 'state|fetch'
