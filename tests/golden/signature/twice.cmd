mined --min-support 0.05 --iterations 2
cp x.lode y.lode
lode signature x.lode y.lode --name x
