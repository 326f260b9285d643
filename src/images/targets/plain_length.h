/* SPDX-License-Identifier: MIT */
/*
 * The lengths of plain instructions, by tables of opcodes: faster than decoding them. For sweeps
 * over whole images. Private to images/targets/.
 */
#pragma once

#include <stdint.h>

enum { LODE_PLAIN_BYTES = 15 }; /* that can be read */

/*
 * The length of the instruction at `code`; 0: not plain, and to be decoded. Plain ones are valid,
 * neither jumps nor direct calls, and no `lea` of an address relative to rip.
 */
unsigned lode_plain_length(const uint8_t *code);
