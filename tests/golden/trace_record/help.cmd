lode trace record --help
