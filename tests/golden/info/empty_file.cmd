touch empty.lode
lode info empty.lode
