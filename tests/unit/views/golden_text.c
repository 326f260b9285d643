/* SPDX-License-Identifier: MIT */
#include "golden_text.h"

#include <glib.h>

void golden_assert(const char *name, const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *expected = NULL;
	const char *root = g_getenv("LODE_SOURCE_ROOT");

	g_assert_nonnull(root);
	g_autofree char *path = g_build_filename(
		root, "tests", "unit", "views", "golden", name, NULL);
	if (g_getenv("LODE_UPDATE_GOLDEN") != NULL)
		g_file_set_contents(path, text, -1, &error);
	g_assert_no_error(error);
	g_file_get_contents(path, &expected, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(text, ==, expected);
}
