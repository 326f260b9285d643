lode memory a.lode b.lode
