lode repot
