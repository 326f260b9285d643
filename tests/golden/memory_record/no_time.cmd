lode memory record --timer 0 -- true
