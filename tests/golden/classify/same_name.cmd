mined --min-support 0.05 --iterations 2
lode signature x.lode --name pairs -o a.sig
cp a.sig b.sig
lode classify x.lode --signatures .
