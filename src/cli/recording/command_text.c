/* SPDX-License-Identifier: MIT */
#include "cli/recording/command_text.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

char *lode_command_text(char **words)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; words[i] != NULL; i++) {
		bool is_plain = *words[i] != '\0' &&
		                strpbrk(words[i], " \t\n\"'\\$`|&;()<>*?[]#~!{}") == NULL;
		g_autofree char *word = is_plain ? g_strdup(words[i]) : g_shell_quote(words[i]);
		g_string_append_printf(text, "%s%s", i > 0 ? " " : "", word);
	}
	return g_string_free(text, FALSE);
}
