lode trace simulate x.rps --every 500
