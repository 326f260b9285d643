# What lode reads by itself must be a regular file: to open a FIFO would wait for ever.
caused
mkfifo .lode-mute
timeout -k 1 20 lode report x.lode
