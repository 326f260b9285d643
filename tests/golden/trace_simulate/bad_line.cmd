lode trace simulate x.rps --line 48
