lode memory --help
