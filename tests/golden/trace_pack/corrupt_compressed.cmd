seq -f ' L %08g,1' 10000 | gzip -c | head -c 20000 >x.gz
lode trace pack x.gz -o x.rps
