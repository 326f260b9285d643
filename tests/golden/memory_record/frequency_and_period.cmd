lode memory record --frequency 100 --period 5 -- true
