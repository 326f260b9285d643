lode trace record -n 0 -- true
