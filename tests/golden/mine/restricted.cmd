lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --functions "^sum$" --min-support 5% --iterations 2 --name sum
lode mine x.lode --images nothing --name none
lode report x.lode sum --limit 2 --sort excess
lode report x.lode none --sort excess
