lode trace info x.rps --format xml
