lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --memory 10X
