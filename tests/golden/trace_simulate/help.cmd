lode trace simulate --help
