printf '%s\n' 'lode-flow 1' 'event cpu-clock' 'graph f' 'v entry 500000 1 op:push at:entry' \
	'v one 0 0 op:mov' 'v load 250000000 100 op:mov kind:load ev:l1d-miss ev:D1mr' \
	'v two 0 0 op:add' 'v three 0 0 op:sub' 'v four 0 0 op:jmp' 'v return 30000000000 1 op:ret' \
	'e entry load 1' 'e load load 99' 'e load return 1' 'x load l1d-miss 60' 'x load D1mr 60' > f.flow
lode import f.flow -o x.lode
lode annotate x.lode function f
lode annotate x.lode function f --all --no-pager | tail -n 12
