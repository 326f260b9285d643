# What is attached to cannot be run again.
lode run -p 1 --count || status=$?
lode run -p 1 --exact || status=$?
lode run --duration 1 --trace -- true || status=$?
exit "$status"
