lode trace simulate x.rps --every 500 --length 501
