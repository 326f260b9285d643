part() {
	printf 'version: 1\ncreator: callgrind-3.19.0\npid: 77\ncmd: ./p\npart: 1\nthread: %s\n\npositions: instr line\nevents: Ir\nsummary: 30\n\n' "$1"
	printf 'ob=(1) /none/p\nfl=(1) p.c\nfn=(1) work%s\n0x1001 1 10\n+4 +1 20\n\ntotals: 30\n' "$1"
}
: >callgrind.out.77
part 1 >callgrind.out.77-01
part 2 >callgrind.out.77-02
lode import callgrind.out.* -o x.lode
gzip callgrind.out.77*
lode import callgrind.out.* -o x.lode
gunzip callgrind.out.77*
: >other
status=0
lode import callgrind.out.77 -o y.lode || status=$?
lode import callgrind.out.77-01 other -o y.lode || status=$?
lode import other -o y.lode || status=$?
ls
exit $status
