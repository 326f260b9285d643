printf 'I  0401ab70,3\n S 1fff000718,8\n==lode== thread 1\nI  0401ab73,5\n M 0000000000000010,4\n==lode== thread 0\n L ffffffffffffffff,16\n' >text
lode trace pack text -o x.rps --command 'a b' >/dev/null
# Sizes are another matter.
lode trace info x.rps | sed -E '/^(Streams|Classes)/,/^$/d; /^  (frames|blocks) /d; s/^(  bytes).*/\1 N/; s/^(  packed by .*lode).*/\1/'
lode trace info x.rps --format csv | grep -E '^(reference|thread)' | tr -d '\r'
lode trace info x.rps --format json | grep -E 'fetch|instructions|references'
