lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --min-support 0.05 --iterations 2 >/dev/null
lode annotate x.lode function sum
