lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode export x.lode --format autofdo || echo $?
lode export x.lode --format autofdo --weight weight || echo $?
lode export x.lode --format folded --binary program || echo $?
lode export x.lode --format bolt --binary program --binary library || echo $?
