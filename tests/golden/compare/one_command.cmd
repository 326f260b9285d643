lode compare -- ./program
