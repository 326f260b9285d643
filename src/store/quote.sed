# SPDX-License-Identifier: MIT
# Makes each line of a text a C string literal.
s/\\/\\\\/g
s/"/\\"/g
s/^/"/
s/$/\\n"/
