lode serve --help
