lode merge -o all.lode
