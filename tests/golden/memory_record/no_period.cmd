lode memory record --period 0 -- true
