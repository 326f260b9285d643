lode annotate --help
