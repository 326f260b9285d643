lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --max-sequences 10
lode report x.lode --limit 2 --sort excess
lode info x.lode | sed -n '/^Mining/,/^$/p'
