lode import "$DATA/flow/pairs.flow" -o x.lode
ls
