mined --min-support 0.05 --iterations 2
lode annotate x.lode sum && exit 1
lode annotate x.lode sum.c:12
