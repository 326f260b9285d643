mined --min-support 5%
lode diff x.lode "$DATA/flow/pairs.flow"
