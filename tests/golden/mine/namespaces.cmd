lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --attributes op,ev --exclude "op:j*" --min-support 5% --iterations 2
lode report x.lode --all --sort sequence
lode info x.lode | sed -n '/^Mining/,/^$/p'
lode mine x.lode --attributes op,nothing
