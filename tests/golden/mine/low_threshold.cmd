# Of a real program. The threshold that is proposed gives 10,000 sequences within a factor of three.
# Long: it mines a real program.
seq 1 20000 >numbers
lode run --exact --fast --report report.txt -o x.lode -- gzip -kc numbers >/dev/null
lode mine x.lode --min-support 0.05% 2>said >/dev/null
sed -E 's/: [0-9,]+ sequences/: N sequences/; s/[0-9.]+%/X%/' said
support=$(sed -nE 's/^lode: the threshold is low: .* --min-support ([0-9.]+%) would give about 10,000$/\1/p' said)
n=$(lode mine x.lode --min-support "$support" --name few | sed -n 's/ sequences in.*//; s/,//g; 1p')
[ "$n" -ge 3333 ] && [ "$n" -le 30000 ]
# Nothing is proposed to who has asked for a number.
lode mine x.lode --top 100000 >/dev/null
