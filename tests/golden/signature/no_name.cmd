lode signature x.lode
