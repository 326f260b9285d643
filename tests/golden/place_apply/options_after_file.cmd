# Options are taken before FILE and behind it, up to the program.
printf 'memories 3\nthreads 1\n' >x.place
lode place apply x.place --topology "numa:2 pu:1" -- echo ran || echo "status $?" >&2
lode place apply x.place --topologie "numa:2 pu:1" -- echo ran || echo "status $?" >&2
lode place apply x.place --quiet || echo "status $?" >&2
printf 'memories 1\nthreads 1\n' >x.place
lode place apply x.place --topology "numa:1 pu:1" --quiet -- echo --topology ran
