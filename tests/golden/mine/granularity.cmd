lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
for granularity in block function; do
	lode mine x.lode --granularity $granularity --min-support 5% --iterations 2 --name $granularity
	lode report x.lode $granularity --limit 3 --sort excess
done
