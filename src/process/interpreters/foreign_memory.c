/* SPDX-License-Identifier: MIT */
#include "process/interpreters/foreign_memory.h"

enum { MAX_TEXT = 1024 }; /* bytes */

char *lode_foreign_text(const LodeForeignMemory *self, uint64_t address, uint64_t size)
{
	char bytes[MAX_TEXT];
	size_t wanted = (size_t)MIN(size, sizeof(bytes));

	if (address == 0 || address > UINT64_MAX - sizeof(bytes))
		return NULL;
	size_t n = wanted > 0 ? self->read(self->data, address, bytes, wanted) : 0;
	size_t length = strnlen(bytes, n);
	/* It goes on where nothing can be read. */
	if (length == n && n < wanted)
		return NULL;
	return g_utf8_make_valid(bytes, (gssize)length);
}
