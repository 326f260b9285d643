/* SPDX-License-Identifier: MIT */
/* Any UTF-8 text as a shell script or a Makefile, by its first byte; its own commands are looked
 * up. */
#include "fuzz_target.h"
#include "ingest/sampled/starts/process_starts.h"

#include <glib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 16 };

static uint32_t count_lines(const char *text)
{
	uint32_t n = 1;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > MOST_BYTES)
		return 0;
	g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
	uint32_t n_lines = count_lines(text);
	if (!g_utf8_validate(text, -1, NULL))
		return 0;
	g_autoptr(LodeScriptCommands) commands = lode_script_commands_new(
		text, data[0] & 1 ? LODE_SCRIPT_OF_MAKE : LODE_SCRIPT_OF_SHELL);

	for (guint i = 0; i < lode_script_commands_n(commands); i++) {
		const LodeScriptCommand *one = lode_script_commands_at(commands, i);
		if (one->line < 1 || one->line > n_lines)
			g_error("a line that is none");
		if (one->words == NULL && one->text == NULL)
			g_error("a command without words");
		if (one->name != NULL && i < 64)
			lode_script_commands_find(commands, one->name, one->words);
	}
	lode_script_commands_find(commands, "sort", NULL);
	lode_script_commands_find(commands, "cut", "cut -d' ' -f1 \"$x\"");
	return 0;
}
