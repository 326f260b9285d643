lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --instructions --min-count 1 >/dev/null
lode annotate x.lode function sum
lode annotate x.lode F1
