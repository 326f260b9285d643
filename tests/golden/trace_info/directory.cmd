lode trace info . 
