lode --version
