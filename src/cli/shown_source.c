/* SPDX-License-Identifier: MIT */
#include "cli/shown_source.h"

#include "cli/option_parser.h"
#include "views/display_text.h"

#include <stdio.h>
#include <string.h>

enum { NAMED_FOLDERS = 4 };

bool lode_shown_source_check(char *const *folders, GError **error)
{
	for (guint i = 0; folders != NULL && folders[i] != NULL; i++)
		if (!g_file_test(folders[i], G_FILE_TEST_IS_DIR))
			return lode_option_refuse(
				error, "--source: '%s' is not a folder", folders[i]);
	return true;
}

static void tell_shown(const char *path, GHashTable *shown)
{
	g_autoptr(GHashTable)
		folders = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GString) list = g_string_new(NULL);
	unsigned n = 0, n_files = g_hash_table_size(shown);
	GHashTableIter at;
	gpointer name;

	g_hash_table_iter_init(&at, shown);
	while (g_hash_table_iter_next(&at, &name, NULL))
		g_hash_table_add(folders, g_path_get_dirname(name));
	g_autoptr(GList) sorted = g_list_sort(g_hash_table_get_keys(folders), (GCompareFunc)strcmp);
	for (GList *one = sorted; one != NULL && n < NAMED_FOLDERS; one = one->next, n++)
		g_string_append_printf(list, "%s%s", n > 0 ? ", " : "", (const char *)one->data);
	if (g_hash_table_size(folders) > n)
		g_string_append_printf(
			list, " and %u more folders", g_hash_table_size(folders) - n);
	lode_display_line(stderr, "lode report: %s has lines of %u source file%s in %s", path,
		n_files, n_files == 1 ? "" : "s", list->str);
}

void lode_shown_source_tell(const char *path, const LodeSourceAccess *access)
{
	g_autoptr(GPtrArray) refusals = lode_source_access_refusals(access);

	if (g_hash_table_size(access->shown) > 0)
		tell_shown(path, access->shown);
	for (guint i = 0; i < refusals->len; i++)
		lode_display_line(stderr, "lode report: %s", (const char *)refusals->pdata[i]);
}
