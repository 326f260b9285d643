lode place export --help
