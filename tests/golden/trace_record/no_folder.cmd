lode trace record -o no/such/folder/x.rps -- true
