lode record --buffer 100 -- true
