lode trace unpack not-there.rps
