# One asks for two runs, the other for one.
lode run --count --once -- true || status=$?
lode run --exact --count -- true || status=$?
lode run --fast -- true || status=$?
exit "$status"
