lode report --sotr weight x.lode
