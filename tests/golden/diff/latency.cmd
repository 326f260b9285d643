# latency is time by the clock at what waited, where there is such an event, and in units of time.
sed 's/^event cycles/event cpu-clock/; s/^x \(.*\) l1d-miss \(.*\)/x \1 latency \2e2\nx add latency:cause \2e2/' \
	"$DATA/flow/pairs.flow" >base.flow
sed '/latency:cause/s/e2$/e3/' base.flow >new.flow
lode import base.flow -o base.lode >/dev/null
lode import new.flow -o new.lode >/dev/null
lode diff base.lode new.lode --weight latency --by functions
lode diff base.lode new.lode --weight cpu-clock --by functions | head -2
