lode place apply --help
