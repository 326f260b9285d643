/* SPDX-License-Identifier: MIT */
/* execve(2), "Interpreter scripts"; execvp(3) for those that name no interpreter. */
#include "record/script_program.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SHELL "/bin/sh"

enum { LINE_BYTES = 256, MAX_SCRIPTS = 5 };

/* "#!INTERPRETER [ARGUMENT]": false when it is none. */
static bool read_first_line(const char *path, char **out_interpreter, char **out_argument)
{
	char line[LINE_BYTES + 1] = "";
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return false;
	size_t size = fread(line, 1, LINE_BYTES, file);
	fclose(file);
	line[size] = '\0';
	if (!g_str_has_prefix(line, "#!"))
		return false;
	line[strcspn(line, "\n")] = '\0';
	char *words = g_strstrip(line + 2);
	size_t length = strcspn(words, " \t");
	if (length == 0)
		return false;
	*out_interpreter = g_strndup(words, length);
	const char *rest = words + length + strspn(words + length, " \t");
	*out_argument = *rest != '\0' ? g_strdup(rest) : NULL;
	return true;
}

/* What cannot be read is not for the shell either. */
static bool is_for_shell(const char *path)
{
	char magic[SELFMAG] = "";
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return false;
	size_t size = fread(magic, 1, SELFMAG, file);
	bool is_read = ferror(file) == 0;
	fclose(file);
	return is_read && (size < SELFMAG || memcmp(magic, ELFMAG, SELFMAG) != 0);
}

static void put_in_front(GPtrArray *line, char *interpreter, char **name)
{
	g_ptr_array_insert(line, 0, interpreter);
	g_free(*name);
	*name = g_strdup(interpreter);
}

GPtrArray *lode_script_program(const char *path, const char *const *argv, char **out_name)
{
	GPtrArray *line = g_ptr_array_new_with_free_func(g_free);
	char *interpreter, *argument;
	int n_scripts = 0;

	*out_name = g_strdup(argv[0]);
	g_ptr_array_add(line, g_strdup(path));
	for (size_t i = 1; argv[0] != NULL && argv[i] != NULL; i++)
		g_ptr_array_add(line, g_strdup(argv[i]));
	g_ptr_array_add(line, NULL);
	while (n_scripts < MAX_SCRIPTS &&
		read_first_line(line->pdata[0], &interpreter, &argument)) {
		if (argument != NULL)
			g_ptr_array_insert(line, 0, argument);
		put_in_front(line, interpreter, out_name);
		n_scripts++;
	}
	if (n_scripts < MAX_SCRIPTS && is_for_shell(line->pdata[0]))
		put_in_front(line, g_strdup(SHELL), out_name);
	return line;
}
