lode trace cut --help
