lode info x.lode
