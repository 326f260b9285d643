# On a terminal of 80 columns, in ASCII.
caused
export COLUMNS=80 TERM=dumb LC_ALL=C
script -qec "lode report x.lode" /dev/null | tr -d '\r'
