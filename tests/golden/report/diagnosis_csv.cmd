# Diagnoses as CSV: all with the muted ones, the first, one alone; where there is none the titles.
caused
echo 'division@*' >.lode-mute
lode report x.lode --format csv | sed -E 's/([0-9]\.[0-9]{3})[0-9]+/\1/g'
lode report x.lode --format csv --limit 1 | tail -n +2 | cut -c 1-40
lode report x.lode D2 --format csv | tail -n +2 | cut -c 1-40
printf 'lode-flow 1\nevent cpu-clock\ngraph f\nv 1 5 5 op:add\nv 2 5 5 op:sub\ne 1 2 5\n' >even.flow
lode import even.flow -o even.lode >/dev/null
lode mine even.lode >/dev/null
lode report even.lode --format csv | cut -c 1-40
