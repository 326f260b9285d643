mined --min-support 0.05 --iterations 2
id=$(lode report x.lode --all --format csv | sed -n '/^\([0-9]*\),"\[\[""ev:l1d-miss""\],\[""op:add""\]\]"/s//\1/p' | cut -d, -f1)
lode annotate x.lode "$id"
