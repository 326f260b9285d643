lode place --help
