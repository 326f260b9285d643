lode merge not_there.lode -o all.lode
