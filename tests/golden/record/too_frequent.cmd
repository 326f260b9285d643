lode record -F 2000000000 -- true 2>&1 | sed "s/_rate, [0-9]*;/_rate, LIMIT;/"; ls
