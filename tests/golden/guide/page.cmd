lode guide
