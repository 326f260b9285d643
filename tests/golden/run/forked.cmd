lode run --exact --fast --report report.txt -o x.lode -- sh -c '(echo forked); (echo piped) | cat; exit 3' || echo "status $?"
lode info x.lode --format json | grep -c 'outside any known image' || true
