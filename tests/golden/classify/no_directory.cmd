lode classify x.lode
