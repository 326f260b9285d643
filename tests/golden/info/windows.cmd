# Observations of windows are read from a flow file and written to one.
cat >given.flow <<'END'
lode-flow 2
event cycles
windows 12 1500
graph sum
v load 1000 100 kind:load op:mov
v add 100 100 op:add
e load add 100
e add load 99
o load add 812 12
o add load 800 12
END
lode import given.flow -o x.lode >/dev/null
lode info x.lode
lode export x.lode --format flow >again.flow
cmp given.flow again.flow || cat again.flow
