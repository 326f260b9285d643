mined --min-support 0.05 --iterations 2
lode signature x.lode --name pairs
lode classify x.lode --signatures . --capacity --elapsed 5
