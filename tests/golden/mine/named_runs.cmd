lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --min-support 0.05 --iterations 2 --name first
lode mine x.lode --min-support 0.05 --iterations 2 --gap 1 --name gaps
lode report x.lode nothing
