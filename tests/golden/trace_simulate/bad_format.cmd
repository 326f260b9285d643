lode trace simulate x.rps --format xml
