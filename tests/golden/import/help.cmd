lode import --help
