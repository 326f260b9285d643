lode record -p 1 -- true
