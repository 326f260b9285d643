mkdir kept
touch kept/perf.data
status=0
lode run --once --keep-recording kept -- true || status=$?
ls
exit $status
