lode trace pack --help
