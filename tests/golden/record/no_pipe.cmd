lode record --control no-such-pipe -- true
