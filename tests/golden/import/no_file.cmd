lode import
