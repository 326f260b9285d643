lode trace cut x.rps --from 10
