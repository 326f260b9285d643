# Six calls of work() by often(), three by seldom(), one by main().
cat >callgrind.out <<'END'
version: 1
creator: callgrind-3.19.0
cmd: ./program
positions: instr line
events: Ir

ob=(1) /nowhere/program
fl=(1) tree.c
fn=(1) main
0x1000 1 1
0x1004 1 1
cfn=(2) often
calls=1 0x1100 5
0x1004 1 606
0x1008 2 1
cfn=(3) seldom
calls=1 0x1200 9
0x1008 2 303
0x100c 3 1
cfn=(4) work
calls=1 0x1300 13
0x100c 3 100

fn=(2) often
0x1100 5 6
cfn=(4)
calls=6 0x1300 13
0x1100 5 600

fn=(3)
0x1200 9 3
cfn=(4)
calls=3 0x1300 13
0x1200 9 300

fn=(4)
0x1300 13 987

ob=(2) /nowhere/libc.so.6
fn=(5) malloc
0x500 1 200
cfn=(6) _int_malloc
calls=2 0x600 1
0x500 1 300
fn=(6)
0x600 1 300

totals: 1500
END
lode import callgrind.out -o x.lode >/dev/null 2>&1
lode report x.lode --functions
lode report x.lode --functions --sort inclusive --limit 2 --image program
lode report x.lode --functions --text alloc --format csv | sed -E "s|([0-9]\.[0-9]{3})[0-9]+|\1|g"
lode report x.lode --functions --limit 1 --format json | sed -E "s|([0-9]\.[0-9]{3})[0-9]+|\1|g"
lode report x.lode --functions --text nothing
lode report x.lode --functions --text nothing --format csv
