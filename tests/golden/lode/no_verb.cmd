lode
