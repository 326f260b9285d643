lode merge a.lode
