awk '/^v /{ $3 = 0 } { print }' "$DATA/flow/pairs.flow" >new.flow
lode import "$DATA/flow/pairs.flow" -o base.lode >/dev/null
lode import new.flow -o new.lode >/dev/null
lode diff base.lode new.lode
