mined --min-support 0.05 --iterations 2
lode signature x.lode --name pairs -o - | head -n -1 >a.sig
lode classify x.lode --signatures .
