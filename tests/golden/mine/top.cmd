lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --top 20 --iterations 2
lode report x.lode --all --sort maximal
