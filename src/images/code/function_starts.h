/* SPDX-License-Identifier: MIT */
/* Private to images/: finds where functions begin in code without symbols and unwind tables. */
#pragma once

#include "images/elf/elf_file.h"

/* A part of an executable range. */
typedef struct {
	uint64_t address, size;
} LodeUnnamedCode;

/*
 * Appends the addresses (uint64_t, ascending) where functions seem to begin inside of `parts`
 * (LodeUnnamedCode, by address, disjoint), but for the beginnings of parts. It decodes them once:
 * some ten million instructions a second. Private parts of a function that no jump joins with the
 * rest, such as cases of a switch, may be taken for functions.
 */
void lode_function_starts_find(const LodeElfFile *file, const GArray *parts, GArray *out_starts);
