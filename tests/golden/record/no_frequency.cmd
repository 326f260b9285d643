lode record -F 0 -- true
