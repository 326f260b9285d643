lode trace simulate x.rps --curve date
