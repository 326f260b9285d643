/* SPDX-License-Identifier: MIT */
/* The names of the system calls of x86-64 and i386 by their numbers, from the headers of the
 * machine that lode was built on. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* "write" of 1; NULL: none has the number. */
const char *lode_system_call_name(uint64_t number);

/* Likewise of a program of 32 bits: "write" of 4. */
const char *lode_system_call_name_32(uint64_t number);

/* The number of "write"; also of "newstat" and the like, as the kernel's functions have it. False:
 * there is no such call. */
bool lode_system_call_find(const char *name, int64_t *out_number);
