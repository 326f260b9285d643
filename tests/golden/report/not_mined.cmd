lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode report x.lode
