lode record
