/* SPDX-License-Identifier: MIT */
#include "cli/recording/wrapped_program.h"

#include "cli/verb.h"
#include "views/form/display_text.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static void print_note(const char *text, LodeAdvice advice, void *verb)
{
	static const char *const options[] = {
		[LODE_ADVICE_NONE] = "",
		[LODE_ADVICE_RAISE_FREQUENCY] = ": a higher --frequency takes more",
		[LODE_ADVICE_SAMPLE_ONLY] = " (without --count it runs only once)",
	};

	lode_display_line(stderr, "lode %s: %s%s", (const char *)verb, text, options[advice]);
}

LodeNotes lode_wrapped_program_notes(const char *verb)
{
	return (LodeNotes){.take = print_note, .user_data = (void *)verb};
}

char **lode_wrapped_program_own_command(char **arguments)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	g_autofree char *text = NULL;
	gsize size;

	if (!g_file_get_contents("/proc/self/cmdline", &text, &size, NULL) || size == 0)
		return g_strdupv(arguments);
	for (const char *at = text; at < text + size; at += strlen(at) + 1)
		g_ptr_array_add(words, (char *)at);
	g_ptr_array_add(words, NULL);
	return g_strdupv((char **)words->pdata);
}

int lode_wrapped_program_status(int status, int stop_signal)
{
	if (stop_signal != 0)
		return LODE_EXIT_BY_SIGNAL + stop_signal;
	if (WIFSIGNALED(status))
		return LODE_EXIT_BY_SIGNAL + WTERMSIG(status);
	return WEXITSTATUS(status);
}

void lode_wrapped_program_advise(GError *failed, const char *advice)
{
	char *message = g_strconcat(failed->message, "; ", advice, NULL);

	g_free(failed->message);
	failed->message = message;
}
