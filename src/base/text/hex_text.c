/* SPDX-License-Identifier: MIT */
#include "base/text/hex_text.h"

#include <glib.h>

char *lode_hex_text(const uint8_t *bytes, size_t n)
{
	GString *text = g_string_sized_new(2 * n);

	for (size_t i = 0; i < n; i++)
		g_string_append_printf(text, "%02x", bytes[i]);
	return g_string_free(text, FALSE);
}
