lode diff --help
