cat >x.place <<'END'
memories 2 in topology cube
threads 4
distribute threads 0:2 across memories cyclic
place range 0x7f0000000000 to 0x7f000000ffff on memory 1
place range 0x7f0000008000 to 0x7f0000008fff on memory 0
interleave range 0x7f0000100000 to 0x7f00001fffff
place object "a */ b" on memory 1
END
for form in numactl hwloc c; do
	echo "--- $form"
	lode place export x.place --as $form
done
lode place export x.place --as xml || echo "status $?" >&2
lode place export x.place --as c --topology "numa:1 pu:4" || echo "status $?" >&2
