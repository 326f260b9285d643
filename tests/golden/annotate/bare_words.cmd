# A word is a function, FILE:LINE a line.
mined --min-support 0.05 --iterations 2
lode annotate x.lode function sum >function.txt
lode annotate x.lode sum | cmp - function.txt
lode annotate x.lode u || true
lode annotate x.lode sun || true
lode annotate x.lode sum.c:12 || true
lode annotate x.lode sum count
