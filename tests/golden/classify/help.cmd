lode classify --help
