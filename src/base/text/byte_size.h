/* SPDX-License-Identifier: MIT */
/* Sizes with K, M, G or T after them, which are powers of 1024. */
#pragma once

#include <glib.h>
#include <stdint.h>

/* By how many bits the letter, small or capital, shifts a number: 'K' 10 … 'T' 40; others 0. */
unsigned lode_byte_size_shift(char letter);

/* Appends it so that it reads back as the same number: 32768 → "32K", 1000 → "1000". */
void lode_byte_size_append(GString *out, uint64_t size);
