lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --instructions --min-count 1 --max-length 3 --name opcodes
lode mine x.lode --min-support 0.1 --iterations 2
lode report x.lode opcodes
lode report x.lode opcodes --sort event:cycles --limit 2
lode report x.lode opcodes --format csv
lode report x.lode opcodes --format json --limit 2
lode annotate x.lode 1 --run opcodes --limit 1
