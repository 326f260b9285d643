mined --min-support 0.05 --iterations 2
echo 'lode-signature 7' >a.sig
lode classify x.lode --signatures .
