lode info --help
