# The places of a diagnosis, with their code.
caused
lode annotate x.lode D1
