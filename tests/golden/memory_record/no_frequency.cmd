lode memory record -F 0 -- true
