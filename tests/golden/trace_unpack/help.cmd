lode trace unpack --help
