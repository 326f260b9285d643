mined --instructions --min-count 1
lode annotate x.lode function sum
lode annotate x.lode F1
