lode --version | head -n 1
