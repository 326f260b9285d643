# Each is refused before anything runs.
try() {
	printf '%s\n' "$@" >x.place
	lode place apply x.place -- echo ran || echo "status $?" >&2
}
try 'memories 2' 'threads 2' 'run thread 2 on memory 0'
try 'memories 2' 'threads 2' 'place range 0x2000 to 0x1000 on memory 0'
try 'memories 2' 'run thread 0 on memory 0'
try 'threads 2' 'memroies 2'
lode place apply none.place -- echo ran || echo "status $?" >&2
lode place apply x.place || echo "status $?" >&2
printf 'memories 3\nthreads 1\n' >x.place
lode place apply --topology "numa:2 pu:1" x.place -- echo ran || echo "status $?" >&2
lode place apply --topology "numa:1 pu:1" x.place -- no-such-program || echo "status $?" >&2
