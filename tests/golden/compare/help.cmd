lode compare --help
