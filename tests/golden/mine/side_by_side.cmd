lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --min-support 10% --iterations 1 --name a
lode mine x.lode --min-support 20% --iterations 1 --name b
lode mine x.lode --min-support 30% --iterations 1 --name a
lode info x.lode --format csv | grep ^run,
lode report x.lode b --format csv --sort excess
lode report x.lode --format csv --sort excess | wc -l
