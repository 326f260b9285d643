lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
for threads in 1 2 8; do
	lode mine x.lode --min-support 0.02 --gap 1 --window 1 --iterations 3 --threads $threads --name "$threads"
	lode report x.lode "$threads" --all --format json >$threads.json
done
for threads in 2 8; do
	diff <(sed 's/"name" *: *"1"//' 1.json) <(sed "s/\"name\" *: *\"$threads\"//" $threads.json)
done
