lode trace unpack x.rps --form lacky
