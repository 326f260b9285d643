for i in $(seq 6000); do printf 'I  %08x,3\n L %08x,8\n' $((i % 7 * 3)) $((i * 7 % 100 * 64)); done >text
lode trace pack text -o x.rps --command prog >/dev/null
lode trace simulate x.rps --every 500 --length 50 --warm-up 100 --cache d1=1K:2:64,l2=16K:4:64
lode trace simulate x.rps --every 500 --length 50 --warm-up 900 --cache d1=1K:2:64,l2=16K:4:64
lode trace simulate x.rps --every 1500 --length 50 --warm-up 100 --cache d1=1K:2:64
lode trace simulate x.rps --every 500 --length 50 --warm-up 100 --cache d1=1K:2:64,l2=16K:4:64 --format csv | sed 's/"[^"]*"/h/' | cut -d, -f3,12,26-
lode trace simulate x.rps --cache d1=1K:2:64,l2=16K:4:64
