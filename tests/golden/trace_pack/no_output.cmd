lode trace pack x
