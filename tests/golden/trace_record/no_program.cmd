lode trace record
