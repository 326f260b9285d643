lode trace record --with strace -- true
