status=0
lode run --trace --exact -- true || status=$?
exit $status
