lode merge --help
