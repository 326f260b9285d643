for i in $(seq 3000); do printf 'I  %08x,3\n L %08x,8\n' $((i % 7 * 3)) $((i * i % 977 * 16)); done >text
lode trace pack text -o x.rps --command prog >/dev/null
lode trace simulate x.rps --every 500 --length 50 --warm-up 100 --cache d1=1K:2:64
lode trace simulate x.rps --every 500 --length 50 --cache d1=1K:2:64 --format json
