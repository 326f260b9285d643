lode export --help
