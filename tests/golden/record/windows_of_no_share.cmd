lode record --windows much -- true
