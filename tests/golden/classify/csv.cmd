mined --min-support 0.05 --iterations 2
lode signature x.lode --name pairs
lode classify x.lode --signatures . --format csv | cut -d, -f1-3,5,9-
