lode trace simulate x.rps --warm-up 10
