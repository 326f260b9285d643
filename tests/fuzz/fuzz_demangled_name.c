/* SPDX-License-Identifier: MIT */
/* Symbols, one a line: names are valid UTF-8 of a limited length, and are found soon. */
#include "images/elf/demangled_name.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { MAX_SIZE = 1 << 16, LONGEST = 1 << 17 };
	g_autofree char *text = g_strndup((const char *)data, MIN(size, MAX_SIZE));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GStringChunk *names = g_string_chunk_new(1024);

	for (size_t i = 0; lines[i] != NULL; i++) {
		const char *name = lode_demangled_name(lines[i], names);

		g_assert(g_utf8_validate(name, -1, NULL));
		g_assert(strlen(name) < LONGEST + 4 * strlen(lines[i]));
	}
	g_string_chunk_free(names);
	return 0;
}
