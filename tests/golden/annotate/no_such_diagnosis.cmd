# There are two.
caused
lode annotate x.lode D7
