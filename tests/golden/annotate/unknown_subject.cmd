lode annotate x.lode functoin sum
