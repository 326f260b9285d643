lode trace simulate x.rps --plot-curve x.jpg
