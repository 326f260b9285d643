lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --min-support 0.05 --iterations 3 >/dev/null
lode report x.lode --format csv | sed -E 's/([0-9]\.[0-9]{3})[0-9]+/\1/g'
