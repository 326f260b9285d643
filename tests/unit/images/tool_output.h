/* SPDX-License-Identifier: MIT */
/* For the tests of images/: run a tool, compile a small program. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>

/* What `command` (words split as a shell does) prints; NULL when it is missing or fails. */
static inline char *tool_output(const char *format, ...) G_GNUC_PRINTF(1, 2);

static inline char *tool_output(const char *format, ...)
{
	g_autofree char *command = NULL, *output = NULL, *errors = NULL;
	va_list arguments;
	int status = 0;

	va_start(arguments, format);
	command = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	if (!g_spawn_command_line_sync(command, &output, &errors, &status, NULL) ||
		!g_spawn_check_wait_status(status, NULL))
		return NULL;
	return g_steal_pointer(&output);
}

static inline bool tool_run(const char *command)
{
	g_autofree char *output = tool_output("%s", command);

	return output != NULL;
}

/* A program with a loop, an inlined function and a mangled name. */
static const char TOOL_PROGRAM[] =
	"int numbers[64];\n"
	"static inline __attribute__((always_inline)) int square(int x)\n"
	"{\n"
	"	return x * x + numbers[x & 63];\n"
	"}\n"
	"__attribute__((noinline)) static int sum(int n)\n"
	"{\n"
	"	int total = 0;\n"
	"	for (int i = 0; i < n; i++)\n"
	"		total += square(numbers[i & 63]);\n"
	"	return total;\n"
	"}\n"
	"int _ZN3foo3barEi(int x);\n"
	"int _ZN3foo3barEi(int x)\n"
	"{\n"
	"	return sum(x) + square(x);\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	(void)argv;\n"
	"	return _ZN3foo3barEi(argc);\n"
	"}\n";

/* Compiles it to `directory`/program; false when the compiler is missing. */
static inline bool tool_compile(const char *directory, const char *compiler_and_options)
{
	g_autofree char *source = g_build_filename(directory, "program.c", NULL);
	g_autofree char *command = g_strdup_printf(
		"%s -o %s/program %s", compiler_and_options, directory, source);

	g_assert_true(g_file_set_contents(source, TOOL_PROGRAM, -1, NULL));
	return tool_run(command);
}

static inline char *tool_directory(void)
{
	char *directory = g_dir_make_tmp("lode-images-XXXXXX", NULL);

	g_assert_nonnull(directory);
	return directory;
}

/* Removes a directory with the plain files in it, and frees the name. */
static inline void tool_directory_remove(char *directory)
{
	g_autofree char *command = g_strdup_printf("rm -rf %s", directory);

	g_assert_true(tool_run(command));
	g_free(directory);
}
