mined --min-support 0.05 --iterations 2
lode annotate x.lode function sun
