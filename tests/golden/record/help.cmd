lode record --help
