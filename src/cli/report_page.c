/* SPDX-License-Identifier: MIT */
#include "cli/terminal_asker.h"

#include "base/files/output_file.h"
#include "cli/terminal_progress.h"
#include "questions/report.h"
#include "questions/verb.h"
#include "serve/html_report.h"
#include "views/form/display_text.h"

#include <stdio.h>
#include <string.h>

enum { NAMED_FOLDERS = 4 };

/* Prints how many source files the page contains, and their folders. */
static void print_shown(const char *path, GHashTable *shown)
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

/* Prints which source files are shown and which are left out. */
static void print_sources(const char *path, const LodeSourceAccess *access)
{
	g_autoptr(GPtrArray) refusals = lode_source_access_refusals(access);

	if (g_hash_table_size(access->shown) > 0)
		print_shown(path, access->shown);
	for (guint i = 0; i < refusals->len; i++)
		lode_display_line(stderr, "lode report: %s", (const char *)refusals->pdata[i]);
}

int lode_report_page_write(const LodeReportQuestion *options, const char *path, GError **error)
{
	g_autoptr(GHashTable) shown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable)
		refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const LodeSourceAccess source = {options->source, shown, refused};
	const LodeHtmlReportOptions page = {path, options->run, &source};
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	/* The threshold of its mining is chosen for it. */
	screen.progress.note = NULL;
	if (!lode_source_folders_check(options->source, error))
		return LODE_EXIT_USAGE;
	g_autoptr(LodeOutputFile) file = lode_output_file_open(options->html, error);
	if (file == NULL ||
		!lode_html_report_write(
			&page, &screen.progress, lode_output_file_stream(file), error) ||
		!lode_output_file_commit(file, error))
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	print_sources(options->html, &source);
	return LODE_EXIT_OK;
}
