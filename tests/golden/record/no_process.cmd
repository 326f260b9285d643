lode record -p 0 --duration 1
