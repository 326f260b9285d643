lode import "$DATA/flow/pairs.flow" -o a.lode >/dev/null
mkdir b
sed "s/10/20/" "$DATA/flow/pairs.flow" >b/pairs.flow
lode import b/pairs.flow -o b.lode >/dev/null
lode merge --same-paths a.lode b.lode -o all.lode
lode export all.lode
