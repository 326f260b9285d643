lode signature --name x
