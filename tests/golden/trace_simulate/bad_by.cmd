lode trace simulate x.rps --by page
