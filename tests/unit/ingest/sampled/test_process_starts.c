/* SPDX-License-Identifier: MIT */
/* Where in scripts processes were started, by files that lie in their folders. */
#include "ingest/sampled/starts/process_starts.h"
#include "model/profile.h"

#include <glib/gstdio.h>
#include <string.h>

static void add(LodeWaits *waits, uint32_t parent, const char *name, const char *command,
	const char *directory)
{
	const LodeWaitProcess one = {.parent = parent,
		.name = (char *)name,
		.command = (char *)command,
		.directory = (char *)directory};

	g_array_append_val(waits->processes, one);
}

static const LodeWaitStart *start_of(const LodeWaits *waits, uint32_t process)
{
	for (guint i = 0; i < waits->starts->len; i++)
		if (g_array_index(waits->starts, LodeWaitStart, i).process == process)
			return &g_array_index(waits->starts, LodeWaitStart, i);
	return NULL;
}

static void test_starts(void)
{
	static const struct {
		uint32_t process, line; /* 0: not known */
		const char *function, *file;
	} expected[] = {
		{0, 0, NULL, NULL},
		{1, 3, "each", "names.sh"},
		{2, 5, NULL, "names.sh"},
		{3, 5, NULL, "names.sh"}, /* by xargs, which has no script */
		{4, 0, NULL, NULL},       /* nothing like it is in the script */
		{5, 6, NULL, "names.sh"},
		{6, 2, "all", "Makefile"},
		{8, 0, NULL, NULL}, /* of a script that is not there */
		{10, 0, NULL, NULL},
	};
	g_autofree char *folder = g_dir_make_tmp("lode-starts-XXXXXX", NULL);
	g_autofree char *names = g_build_filename(folder, "names.sh", NULL);
	g_autofree char *makefile = g_build_filename(folder, "Makefile", NULL);
	g_autoptr(LodeProfile) profile = lode_profile_new();
	g_autoptr(LodeWaits) waits = lode_waits_new();

	g_assert_true(g_file_set_contents(names,
		"#!/bin/sh\neach() {\n\tcut -f1 \"$1\"\n}\nls | xargs -n 1 wc -l\nmake -s\n", -1,
		NULL));
	g_assert_true(g_file_set_contents(makefile, "all:\n\tsort $(X) > out\n", -1, NULL));
	add(waits, LODE_NONE, "names.sh", "/bin/sh -e ./names.sh x", folder); /* 0 */
	add(waits, 0, "cut", "cut -f1 a", folder);
	add(waits, 0, "xargs", "xargs -n 1 wc -l", folder);
	add(waits, 2, "wc", "wc -l a", folder);
	add(waits, 0, "gcc", NULL, folder);
	add(waits, 0, "make", "make -s", folder); /* 5 */
	add(waits, 5, "sh", "/bin/sh -c 'sort a b > out'", folder);
	add(waits, LODE_NONE, "sh", "sh other.sh", folder);
	add(waits, 7, "cut", "cut -f1 a", folder);
	add(waits, LODE_NONE, "sh", "sh -c 'cut -f1 a'", folder);
	add(waits, 9, "cut", "cut -f1 a", folder); /* 10 */
	lode_process_starts_find(profile, waits);
	for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
		const LodeWaitStart *start = start_of(waits, expected[i].process);
		g_test_message("process %u", expected[i].process);
		g_assert_cmpint(start != NULL, ==, expected[i].line > 0);
		if (start == NULL)
			continue;
		g_assert_cmpuint(start->line, ==, expected[i].line);
		g_assert_cmpstr(start->function, ==, expected[i].function);
		g_assert_true(g_str_has_suffix(start->file, expected[i].file));
	}
	g_unlink(names);
	g_unlink(makefile);
	g_rmdir(folder);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/process_starts/starts", test_starts);
	return g_test_run();
}
