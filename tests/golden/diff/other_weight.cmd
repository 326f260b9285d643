sed 's/^event cycles/event ticks/' "$DATA/flow/pairs.flow" >new.flow
lode import "$DATA/flow/pairs.flow" -o base.lode >/dev/null
lode import new.flow -o new.lode >/dev/null
lode diff base.lode new.lode --weight l1d-miss --by functions
lode diff base.lode new.lode
