lode report --help
