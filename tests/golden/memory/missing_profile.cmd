lode memory missing.lode
