/* SPDX-License-Identifier: MIT */
/* Words of the commands that a view suggests. */
#include "views/form/shell_word.h"

#include <glib.h>
#include <string.h>

char *lode_shell_word(const char *word)
{
	static const char plain[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/._-+:,@%=";

	if (word[0] != '\0' && word[0] != '-' && strspn(word, plain) == strlen(word))
		return g_strdup(word);
	return g_shell_quote(word);
}

char *lode_shell_profile(const char *path, const char *const *origins, const char *part_options)
{
	g_autofree char *word = lode_shell_word(path != NULL ? path : "PROFILE.lode");
	GString *out = g_string_new(word);

	for (; origins != NULL && *origins != NULL; origins++) {
		g_autofree char *origin = lode_shell_word(*origins);
		g_string_append_printf(out, " --origin %s", origin);
	}
	if (part_options != NULL)
		g_string_append_printf(out, " %s", part_options);
	return g_string_free(out, FALSE);
}
