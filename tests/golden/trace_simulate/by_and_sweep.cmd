lode trace simulate x.rps --by line --cache d1=1K..4K:2:64
