printf " L 00000001,1\n" | lode trace pack - -o - || echo status $?
ls
