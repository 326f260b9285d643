# The same file twice, and once more beside another one.
mined --min-support 5%
cp x.lode y.lode
lode diff x.lode x.lode y.lode --by all --min-support 5%
