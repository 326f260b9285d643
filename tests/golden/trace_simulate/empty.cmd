lode trace pack - -o x.rps </dev/null >/dev/null
lode trace simulate x.rps --cache d1=4K:2:64 --curve data --plot-curve x.svg --plot-reuse y.svg
