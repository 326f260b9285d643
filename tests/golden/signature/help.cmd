lode signature --help
