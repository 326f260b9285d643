lode record --windows 3% -p 1
