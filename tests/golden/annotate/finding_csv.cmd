mined --min-support 0.05 --iterations 2
lode annotate x.lode F1 --limit 1 --context 1 --format csv | sed -E "s|([0-9]\.[0-9]{3})[0-9]+|\1|g"
