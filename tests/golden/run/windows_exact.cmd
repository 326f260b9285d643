lode run --exact --windows 3% -- true
