# As of another architecture: nothing is known of the instructions.
mined --min-support 0.05 --iterations 2
lode signature x.lode --name pairs -o a.sig
sed -E 's/\b(op|kind|mem):[a-z0-9]+//g' "$DATA/flow/pairs.flow" >none.flow
lode import none.flow -o none.lode >/dev/null
lode signature none.lode --name none -o none.sig || [ ! -e none.sig ]
lode classify none.lode --signatures .
