mkdir kept
touch kept/perf.data
status=0
lode run --keep-recording kept -- true || status=$?
ls
exit $status
