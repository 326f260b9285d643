/* SPDX-License-Identifier: MIT */
#include "base/text/command_words.h"

#include <string.h>

void lode_command_words_append(GString *command, const char *word)
{
	static const char safe[] = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-+=./:,@%";

	if (command->len > 0)
		g_string_append_c(command, ' ');
	if (*word != '\0' && word[strspn(word, safe)] == '\0') {
		g_string_append(command, word);
		return;
	}
	g_autofree char *quoted = g_shell_quote(word);
	g_string_append(command, quoted);
}

bool lode_is_shell(const char *program)
{
	static const char *const names[] = {"sh", "bash", "dash", "ash", "ksh", "zsh", NULL};
	const char *slash = strrchr(program, '/');

	return g_strv_contains(names, slash != NULL ? slash + 1 : program);
}
