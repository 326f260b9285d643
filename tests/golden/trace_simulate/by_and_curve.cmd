lode trace simulate x.rps --by line --curve data
