lode trace simulate x.rps --event l1d-miss
