lode trace record --level best -- true
