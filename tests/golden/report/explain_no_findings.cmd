lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --instructions --min-count 5 >/dev/null
lode report x.lode --explain
