/* SPDX-License-Identifier: MIT */
#include "record/programs/script_program.h"

#include <glib/gstdio.h>

static char *directory;

static char *write_file(const char *name, const char *text)
{
	char *path = g_build_filename(directory, name, NULL);

	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	return path;
}

static void expect(const char *path, const char *expected, const char *expected_name)
{
	const char *const argv[] = {"typed", "one", "two words", NULL};
	g_autofree char *name = NULL;
	g_autoptr(GPtrArray) line = lode_script_program(path, argv, &name);
	g_autofree char *all = g_strjoinv("|", (char **)line->pdata);

	g_assert_cmpstr(all, ==, expected);
	g_assert_cmpstr(name, ==, expected_name);
}

static void test_lines(void)
{
	static const struct {
		const char *text, *in_front, *name;
	} cases[] = {
		{"#!/bin/sh\n", "/bin/sh|", "/bin/sh"},
		{"#! /bin/sh -e \nrest\n", "/bin/sh|-e|", "/bin/sh"},
		{"#!/usr/bin/env  -S a b\n", "/usr/bin/env|-S a b|", "/usr/bin/env"},
		{"#!/bin/sh", "/bin/sh|", "/bin/sh"},
		{"#!\n", "", "typed"},
		{"#!   \n", "", "typed"},
		{"echo $1\n", "", "typed"},
		{"", "", "typed"},
		{"\x7f"
		 "ELF",
			"", "typed"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *path = write_file("script", cases[i].text);
		g_autofree char *expected = g_strconcat(
			cases[i].in_front, path, "|one|two words", NULL);
		expect(path, expected, cases[i].name);
		g_unlink(path);
	}
}

static void test_script_of_script(void)
{
	g_autofree char *inner = write_file("inner", "#!/bin/sh -e\n");
	g_autofree char *text = g_strdup_printf("#!%s -x\n", inner);
	g_autofree char *outer = write_file("outer", text);
	g_autofree char *expected = g_strconcat(
		"/bin/sh|-e|", inner, "|-x|", outer, "|one|two words", NULL);

	expect(outer, expected, "/bin/sh");
	g_unlink(inner);
	g_unlink(outer);
}

/* One that names itself ends somewhere. */
static void test_loop(void)
{
	g_autofree char *path = g_build_filename(directory, "loop", NULL);
	g_autofree char *text = g_strdup_printf("#!%s\n", path);
	const char *const argv[] = {"loop", NULL};
	g_autofree char *name = NULL;

	g_free(write_file("loop", text));
	g_autoptr(GPtrArray) line = lode_script_program(path, argv, &name);
	g_assert_cmpuint(line->len, <, 10);
	g_unlink(path);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	directory = g_dir_make_tmp("lode-script-XXXXXX", NULL);
	g_test_add_func("/script_program/lines", test_lines);
	g_test_add_func("/script_program/script_of_script", test_script_of_script);
	g_test_add_func("/script_program/loop", test_loop);
	int status = g_test_run();
	g_rmdir(directory);
	g_free(directory);
	return status;
}
