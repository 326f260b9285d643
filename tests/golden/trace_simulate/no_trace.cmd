lode trace simulate
