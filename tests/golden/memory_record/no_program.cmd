lode memory record
