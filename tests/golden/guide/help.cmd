lode guide --help
