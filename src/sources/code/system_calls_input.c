/* SPDX-License-Identifier: MIT */
/* For the preprocessor alone, which prints the numbers of system calls (system_calls.sed). */
#include <asm/unistd.h>
