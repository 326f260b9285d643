# Where debug information is installed, valgrind goes on about it without its mark.
{
	echo '--1-- summarise_context(loc_start = 0x10): cannot summarise(why=1):   '
	echo '0x30a: [0]={ 56(r3) { u  u  u  c-56 u  u  u  u  c-8 u  u  u  }'
	printf 'I  00001000,3\n L 00002000,8\n'
} >text
lode trace pack text -o x.rps >/dev/null
lode trace unpack x.rps
