status=0
lode run --simulate host -- true || status=$?
exit $status
