lode trace unpack
