lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode info x.lode --format json
