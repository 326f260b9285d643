# A muted diagnosis is counted, not listed, and fails nothing; numbers stay.
caused
printf '# known\n\n  division@hash_step  \r\n' >known
lode report x.lode --mute known --fail-on division
lode report x.lode D1 --mute known | tail -1
printf '*@count_up\natomic@*\n' >.lode-mute
lode report x.lode
lode report x.lode --format json | grep -o '"name":"[^"]*","muted":[a-z]*'
