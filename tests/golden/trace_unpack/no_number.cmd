lode trace unpack x.rps --from -1
