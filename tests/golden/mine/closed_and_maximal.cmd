lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --min-support 5% --iterations 3 --name all
lode mine x.lode --min-support 5% --iterations 3 --closed --name closed
lode mine x.lode --min-support 5% --iterations 3 --maximal --name maximal
lode report x.lode maximal --all --limit 5 --sort sequence
