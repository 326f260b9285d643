lode memory x.lode --granulrity line
