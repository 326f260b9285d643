# Twice the work at the same cost: nothing changed by executed instruction.
awk '/^v /{ $3 *= 2; $4 *= 2 } /^e /{ $4 *= 2 } /^x /{ $4 *= 2 } { print }' "$DATA/flow/pairs.flow" >new.flow
lode import "$DATA/flow/pairs.flow" -o base.lode >/dev/null
lode import new.flow -o new.lode >/dev/null
lode diff base.lode new.lode --by functions
lode diff base.lode new.lode --by functions --normalise executions
