mined --min-support 5%
lode diff x.lode x.lode --fail-above fast
