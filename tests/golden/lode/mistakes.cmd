# What people type by mistake, and what lode answers: no file is harmed, nothing is recorded.
mined
try() {
	printf '$ lode %s\n' "$*"
	lode "$@" 2>&1 </dev/null || echo "→ $?"
}
cp x.lode new.lode
ln -s new.lode link.lode
head -c 3000 x.lode >cut.lode
printf 'PERFILE2 and more' >perf.data
printf '\211RPS\r\n\032\n and more' >t.rps
printf '# callgrind format\nversion: 1\n' >callgrind.out.4711
printf 'int main(void) { return 0; }\n' >source.c
printf 'echo hello\n' >my-script && chmod +x my-script
printf '#!/no/such/shell\n' >other && chmod +x other
printf '\177ELF and no more' >half && chmod +x half
: >empty.lode
mkdir folder
cksum x.lode new.lode perf.data t.rps source.c >before

# one file for another
try report perf.data
try info t.rps
try annotate callgrind.out.4711 main
try report source.c
try report empty.lode
try report cut.lode
try report folder
try report no.lode
for compressor in gzip xz zstd bzip2; do
	$compressor -c x.lode >x.lode.packed
	try report x.lode.packed
done
try import x.lode -o y.lode
try import source.c -o y.lode
try import no.data -o y.lode
try diff x.lode perf.data
try diff x.lode
try trace info x.lode
try trace info perf.data
try merge x.lode x.lode -o y.lode

# what is there already
try record -o x.lode -- true
try record -o source.c -- true
try run -o source.c -- true
try run -o perf.data -- true
try memory record -o source.c -- true
try import "$DATA/flow/pairs.flow" -o source.c
try import "$DATA/flow/pairs.flow" -o folder
try run -o folder -- true
try record -o folder -- true
try export x.lode -o folder
try report --html x.lode
try report --html new.lode x.lode
try report x.lode --html x.lode
for format in flow callgrind pprof firefox folded; do
	try export x.lode --format $format -o new.lode
done
try export x.lode -o ./x.lode
try export x.lode -o link.lode
try export x.lode -o perf.data
try export x.lode -o t.rps
try signature x.lode --name new -o new.lode
try signature x.lode --name new -o x.lode
try place x.lode -o new.lode
try memory x.lode -o new.lode
try memory x.lode --plot new.lode -o list.txt
try memory x.lode --plot list.txt -o list.txt
try trace unpack t.rps -o new.lode
try trace unpack t.rps -o t.rps
try trace simulate t.rps -o perf.data
try trace cut t.rps -o new.lode
try run -o none.lode --report none.lode -- true
try run --report true.lode -- true
try run -o none.lode --report new.lode -- true
try run -o none.lode --report my-script -- ./my-script
try merge x.lode new.lode -o x.lode

# options
try run -o -- true
try run -o
try run --no-such-option -- true
try record -F many -- true
try report x.lode --limit many
try report x.lode --limit 0
try annotate x.lode F1 --limit 0
try report x.lode --percent-limit 101
try report x.lode --format yaml
try report x.lode --findigs
try report --functions
try report x.lode new.lode
try report x.lode no.lode
try report
try export
try info
try import
try merge
try signature
try trace info
try trace pack
try place export
try annotate x.lode
try annotate x.lode D9
try annotate x.lode F99
try report x.lode --explain D9
try annotate x.lode nosuch
try report x.lode --callers nosuch
try trace simulate source.c

# programs
try run
try run -- no-such-program
try run ./no-such-program
try run my-script
try run ./my-script
try run ./other
try run ./half
try run ./source.c
try run folder
try run ./folder
try run cd /
try run ulimit -n
try run export X=1
try record -p 999999999
try record -p me

# verbs
try -v
try --verison
try frobnicate
try reprot x.lode
try memroy x.lode
try trace
try help frobnicate
try x.lode
try perf.data
try ./my-script
try stat -- true
try place

cksum x.lode new.lode perf.data t.rps source.c | diff before -
