lode trace simulate missing.rps --cache d1=4K:2:64
