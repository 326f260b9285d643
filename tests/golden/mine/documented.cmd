# The example of docs/reference/formats/flow-file.md, with the supports that stand there.
cat >sum.flow <<'END'
lode-flow 1
event cycles
graph sum
v load 1000 100 op:mov kind:load ev:l1d-miss
v add 100 100 op:add
e load add 100
e add load 99
x load l1d-miss 60
END
lode import sum.flow -o sum.lode >/dev/null
lode mine sum.lode --iterations 1
lode report sum.lode --all --with l1d-miss
