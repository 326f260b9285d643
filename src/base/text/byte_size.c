/* SPDX-License-Identifier: MIT */
#include "base/text/byte_size.h"

#include <string.h>

static const char letters[] = "KMGT";

unsigned lode_byte_size_shift(char letter)
{
	const char *found = letter != '\0' ? strchr(letters, g_ascii_toupper(letter)) : NULL;

	return found != NULL ? 10 * (unsigned)(found - letters + 1) : 0;
}

void lode_byte_size_append(GString *out, uint64_t size)
{
	size_t unit = 0;

	for (; size != 0 && size % 1024 == 0 && letters[unit] != '\0'; unit++)
		size /= 1024;
	g_string_append_printf(out, "%" G_GUINT64_FORMAT, size);
	if (unit > 0)
		g_string_append_c(out, letters[unit - 1]);
}
