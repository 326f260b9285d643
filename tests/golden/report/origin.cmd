# Of two runs of one program, in one of which an instruction costs three times as much: each alone.
sed 's/^v add 300 100/v add 900 100/' "$DATA/flow/pairs.flow" >dear.flow
cp "$DATA/flow/pairs.flow" pairs.flow
lode import pairs.flow -o pairs.lode >/dev/null
lode import dear.flow -o dear.lode >/dev/null
lode merge --same-paths pairs.lode dear.lode -o all.lode >/dev/null
lode mine all.lode --attributes op --min-support 5% >/dev/null
lode report all.lode --origin dear
lode report all.lode --origin 1 --all --limit 1
lode mine all.lode --origin 'd*' --attributes op --min-support 5% --name part >/dev/null
lode info all.lode | grep -A 2 '^Mining runs'
lode report all.lode --origin tribe
