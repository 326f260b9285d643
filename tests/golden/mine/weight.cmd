lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
lode mine x.lode --weight l1d-miss --min-support 10% --iterations 2
lode report x.lode --limit 3 --sort excess
lode mine x.lode --weight nothing
