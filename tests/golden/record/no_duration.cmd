lode record --duration 0 -- true
