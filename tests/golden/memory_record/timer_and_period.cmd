lode memory record --timer 100 --period 5 -- true
