lode trace record -- ./no-such-program
