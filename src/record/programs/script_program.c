/* SPDX-License-Identifier: MIT */
/* execve(2), "Interpreter scripts". */
#include "record/programs/script_program.h"

#include "base/files/regular_file.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 256, MAX_SCRIPTS = 5 };

/* "#!INTERPRETER [ARGUMENT]": false when it is none. */
static bool read_first_line(const char *path, char **out_interpreter, char **out_argument)
{
	char line[LINE_BYTES + 1] = "";
	int descriptor = lode_regular_file_open(path, 0, NULL);

	if (descriptor < 0)
		return false;
	ssize_t size = read(descriptor, line, LINE_BYTES);
	close(descriptor);
	line[MAX(size, 0)] = '\0';
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
		g_ptr_array_insert(line, 0, interpreter);
		g_free(*out_name);
		*out_name = g_strdup(interpreter);
		n_scripts++;
	}
	return line;
}
