lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode export x.lode --format flow >once.flow
lode import once.flow -o y.lode
lode export y.lode --format flow >twice.flow
cmp once.flow twice.flow
cat once.flow
