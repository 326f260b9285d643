# On a terminal of 80 columns other columns are left out, and a long pattern continues.
mined --min-support 0.05
export COLUMNS=80 TERM=dumb
script -qec "lode report x.lode --all --size 5 --limit 4 --sort frequency" /dev/null | tr -d '\r'
