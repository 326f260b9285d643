sed 's/^v add 300 100/v add 900 100/' "$DATA/flow/pairs.flow" >new.flow
lode import "$DATA/flow/pairs.flow" -o base.lode >/dev/null
lode import new.flow -o new.lode >/dev/null
lode diff base.lode new.lode --by sequences --min-support '10 %' --limit 3
