lode trace simulate x.rps --every 500 --length 450 --warm-up 51
