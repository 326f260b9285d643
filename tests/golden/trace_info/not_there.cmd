lode trace info not-there.rps
