touch file; lode record --control file -- true
