mined --min-support 0.05 --iterations 2
lode annotate x.lode F1 --limit 1
