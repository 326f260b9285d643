/* SPDX-License-Identifier: MIT */
/*
 * Code that may be stepped: the executable segments of loaded files, which can be read where they
 * lie, and code made at run time, which the kernel reads for us, as it may go away at any time. Not
 * ours.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uintptr_t low, high;
} KnownCode;

/* Whether code can be found at all. */
bool known_code_begin(void);

enum { KNOWN_CODE_BYTES = 15 }; /* of the longest instruction */

/*
 * Up to so many bytes at the address, where they lie or in the buffer; NULL: no code for us.
 * `segment` is that of the address before, and becomes that of this one, or empty. Takes no lock:
 * for signal handlers.
 */
const uint8_t *known_code_read(
	uintptr_t address, KnownCode *segment, uint8_t buffer[KNOWN_CODE_BYTES], size_t *out_n);
