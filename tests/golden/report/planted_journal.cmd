# A journal that came with a profile names a file, which SQLite would delete after playing it back.
mined --min-support 0.05 --iterations 2
echo 'my work' >precious
number() { printf "\\x$(printf %08x "$1" | sed 's/../&\\x/g; s/\\x$//')"; }
magic='\xd9\xd5\x05\xf9\x20\xa1\x63\xd7'
victim=$PWD/precious
{
	printf "$magic"
	number 0 && number 1 && number $(($(stat -c %s x.lode) / 16384)) && number 512 && number 16384
	head -c 484 /dev/zero
	number $((0x40000000 / 16384 + 1)) && printf %s "$victim" && number ${#victim}
	number $(($(printf %s "$victim" | od -An -tu1 -v | tr -s ' \n' '+' | sed 's/^+//; s/+$//')))
	printf "$magic"
} >x.lode-journal
cp x.lode before.lode
for verb in info report memory 'annotate 1' export place mine; do
	set -- $verb
	status=0
	lode "$1" x.lode ${2:-} >/dev/null 2>message || status=$?
	echo "$1 $status: $(cat message)"
done
ls
cmp x.lode before.lode
