lode trace || echo $?
lode trace foo || echo $?
lode trace --help || echo $?
lode help trace || echo $?
