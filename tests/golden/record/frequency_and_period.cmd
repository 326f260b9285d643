lode record -F 1000 -c 1000 -- true
