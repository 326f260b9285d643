lode run --windows paths -p 1
