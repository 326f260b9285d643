/* SPDX-License-Identifier: MIT */
/* Code that may be stepped: the executable segments of loaded files, without ours. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uintptr_t low, high;
} KnownCode;

/* Whether code can be found at all. */
bool known_code_begin(void);

/* The segment with the address. Takes no lock: for signal handlers. */
bool known_code_find(uintptr_t address, KnownCode *out_code);
