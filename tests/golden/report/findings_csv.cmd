mined --min-support 0.05 --iterations 3
lode report x.lode --findings --format csv | sed -E 's/([0-9]\.[0-9]{3})[0-9]+/\1/g'
