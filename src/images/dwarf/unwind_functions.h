/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: function bounds from the unwind table (.eh_frame; Linux Standard Base Core
 * 5.0, §10.6), which stripped programs keep. Each entry describes one function or a part of one.
 */
#pragma once

#include "images/elf/elf_file.h"

typedef struct {
	uint64_t address, size; /* size never 0 */
} LodeUnwindRange;

/*
 * Appends the ranges of all entries to `out_ranges` (LodeUnwindRange), in the table's order. False
 * when the table is broken somewhere: the ranges before that place are there.
 */
bool lode_unwind_functions_read(const LodeElfFile *file, GArray *out_ranges);
