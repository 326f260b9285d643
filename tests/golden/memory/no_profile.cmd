lode memory
