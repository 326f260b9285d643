lode run --exact -- ./no-such-program
