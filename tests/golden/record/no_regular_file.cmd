lode record -o /dev/null -- true
