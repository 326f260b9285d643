lode trace info x.rps --quick --verify
