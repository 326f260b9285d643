lode run
