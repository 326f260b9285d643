/* SPDX-License-Identifier: MIT */
#include "model/lines/java_class.h"

#include "model/lines/own_lines.h"

#include <string.h>

static const char ending[] = ".java";

char *lode_java_inlined_class(const char *function, const char *file)
{
	if (!g_str_has_suffix(file, ending) || !lode_is_toolchain_file(file))
		return NULL;
	char *class = g_strndup(file, strlen(file) - strlen(ending));
	g_strdelimit(class, "/", '.');
	char after = g_str_has_prefix(function, class) ? function[strlen(class)] : '\0';
	if (after == '.' || after == '$')
		g_clear_pointer(&class, g_free);
	return class;
}

char *lode_java_file_of(const char *function)
{
	const char *end = function + strcspn(function, "($");
	const char *dot = *end == '$' ? end : g_strrstr_len(function, end - function, ".");
	g_autofree char *class = g_strndup(function, (gsize)((dot != NULL ? dot : end) - function));

	g_strdelimit(class, ".", '/');
	return g_strconcat(class, ending, NULL);
}
