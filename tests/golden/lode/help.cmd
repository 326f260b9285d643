lode --help
