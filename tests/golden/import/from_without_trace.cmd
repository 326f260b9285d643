printf 'version: 1\npid: 1\ncmd: prog\npositions: instr line\nevents: Ir\nfl=a.c\nfn=main\n0x10 1 1\nsummary: 1\n' >callgrind.out.1
status=0
lode import callgrind.out.1 --from 10 -o x.lode || status=$?
ls
exit $status
