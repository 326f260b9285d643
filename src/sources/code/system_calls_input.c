/* SPDX-License-Identifier: MIT */
/* For the preprocessor alone, which prints the numbers of system calls (system_calls.sed). */
#if defined(__x86_64__) && defined(NUMBERS_32)
#include <asm/unistd_32.h>
#else
#include <asm/unistd.h>
#endif
