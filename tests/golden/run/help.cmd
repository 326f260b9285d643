lode run --help
