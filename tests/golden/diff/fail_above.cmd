sed 's/^v add 300 100/v add 900 100/' "$DATA/flow/pairs.flow" >new.flow
lode import "$DATA/flow/pairs.flow" -o base.lode >/dev/null
lode import new.flow -o new.lode >/dev/null
lode diff base.lode new.lode --by functions --fail-above 60 >/dev/null
lode diff new.lode base.lode --by functions --fail-above 0 >/dev/null
lode diff base.lode new.lode --by functions --fail-above '50 %'
