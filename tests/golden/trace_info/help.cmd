lode trace info --help
