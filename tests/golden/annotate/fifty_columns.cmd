# On a narrow terminal the figures of a place continue on a further line.
mined --min-support 5%
export COLUMNS=50 TERM=dumb
script -qec "lode annotate x.lode F1 --limit 1 --no-pager" /dev/null | tr -d '\r' | grep -A3 '^1\.'
