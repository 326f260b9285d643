# The smallest count that a double holds: cost per execution is infinite, supports are not.
printf 'lode-flow 1\nevent cycles\ngraph g\nv x 5 5e-324 op:a\nv y 5 10 op:b\ne x y 5e-324\n' >x.flow
lode import x.flow -o x.lode >/dev/null
lode mine x.lode
lode report x.lode --format csv --sort excess
lode report x.lode --format json --sort excess | python3 -m json.tool >/dev/null
