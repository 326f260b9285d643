lode memory record --help
