# In a charset that lacks signs of ours, others stand in for them.
sed 's/^v add 300 100/v add 900 100/; s/^graph copy/graph duplicate/' "$DATA/flow/pairs.flow" >new.flow
lode import "$DATA/flow/pairs.flow" -o base.lode >/dev/null
lode import new.flow -o new.lode >/dev/null
LC_ALL=C lode diff base.lode new.lode
