/* SPDX-License-Identifier: MIT */
/*
 * A script as an image: each of its functions has addresses of its own, one for each of its lines.
 * The image has no bytes. Functions that begin at one line are told apart by their names.
 *
 *   address = first line << 24 | number among those of that line << 18 | line − first line
 *
 * So an address is one place in the text, whatever of the script ran.
 */
#pragma once

#include "images/elf/binary_image.h"

enum { LODE_SCRIPT_LINE_SHIFT = 24 };

typedef struct {
	const char *name;               /* copied */
	uint32_t first_line, last_line; /* from 1 to 2²⁴ − 1 */
} LodeScriptFunction;

/* The functions (LodeScriptFunction) are sorted by line and name; those that are equal in both are
 * one. */
LodeBinaryImage *lode_script_image_new(const char *path, GArray *functions);

/* The first line of the function that begins at an address. */
static inline uint32_t lode_script_image_line(uint64_t address)
{
	return (uint32_t)(address >> LODE_SCRIPT_LINE_SHIFT);
}

/* The address of a line in the function that is equal in name and first line; 0: there is none. */
uint64_t lode_script_image_address(
	const LodeBinaryImage *self, const char *name, uint32_t first_line, uint32_t line);
