lode mine --help
