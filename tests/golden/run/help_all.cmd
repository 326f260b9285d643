lode run --help=all
