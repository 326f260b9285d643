lode record --start-stopped --delay 5 -- true
