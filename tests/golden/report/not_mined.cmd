# Mined for the answer: the profile stays as it is.
lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
cp x.lode before.lode
lode report x.lode | grep -v -e "--all" >unmined.txt
lode report x.lode --all --limit 3
cmp x.lode before.lode
lode mine x.lode >/dev/null
lode report x.lode | grep -v -e "--all" | cmp - unmined.txt
! lode report x.lode other
