# A line that names no diagnosis, and a file that does not exist.
caused
echo division >known
lode report x.lode --mute known || echo "status $?"
lode report x.lode --mute unknown
