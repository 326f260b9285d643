lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode memory x.lode
