# SPDX-License-Identifier: MIT
# Macros of <asm/unistd.h> to rows of a table: "#define __NR_write 1" to "[1] = "write",".
s/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/	[\2] = "\1",/p
