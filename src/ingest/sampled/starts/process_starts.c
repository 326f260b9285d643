/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/starts/process_starts.h"

#include "base/files/regular_file.h"
#include "base/text/command_words.h"
#include "model/profile.h"

#include <string.h>

/* Of a script; larger ones are no scripts that somebody wrote. */
enum { MOST_BYTES = 1 << 20, MOST_SCRIPTS = 256 };

typedef struct {
	LodeScriptCommands *commands; /* NULL: it cannot be read */
	char *path;
} Script;

typedef struct {
	LodeProfile *profile;
	LodeWaits *waits;
	GHashTable *scripts;   /* path → Script */
	const Script **script; /* of each process; NULL: it executes none */
	LodeWaitStart *starts; /* of each process; file NULL: not known */
} Search;

static void script_free(void *data)
{
	Script *self = data;

	lode_script_commands_free(self->commands);
	g_free(self->path);
	g_free(self);
}

static const Script *script_at(Search *self, const char *path, LodeScriptLanguage language)
{
	Script *script = g_hash_table_lookup(self->scripts, path);

	if (script != NULL || g_hash_table_size(self->scripts) >= MOST_SCRIPTS)
		return script != NULL && script->commands != NULL ? script : NULL;
	g_autofree char *text = lode_regular_file_read(path, MOST_BYTES, NULL);
	script = g_new0(Script, 1);
	script->path = g_strdup(path);
	if (text != NULL && g_utf8_validate(text, -1, NULL))
		script->commands = lode_script_commands_new(text, language);
	g_hash_table_insert(self->scripts, script->path, script);
	return script->commands != NULL ? script : NULL;
}

/* The file that the words of a shell name; NULL: it reads something else. */
static const char *script_of_shell(char **words)
{
	guint i = 1;

	for (; words[i] != NULL && (words[i][0] == '-' || words[i][0] == '+'); i++) {
		if (strncmp(words[i], "--", 2) != 0 && strpbrk(words[i], "cs") != NULL)
			return NULL;
		i += strcmp(words[i], "-o") == 0 || strcmp(words[i], "+o") == 0;
		if (words[i] == NULL)
			return NULL;
	}
	return words[i];
}

static const Script *script_of_make(Search *self, char **words, const char *directory)
{
	static const char *const names[] = {"GNUmakefile", "makefile", "Makefile"};
	const char *given = NULL;

	for (guint i = 1; words[i] != NULL; i++) {
		if ((strcmp(words[i], "-f") == 0 || strcmp(words[i], "--file") == 0) &&
			words[i + 1] != NULL)
			given = words[i + 1];
		else if (g_str_has_prefix(words[i], "-f") && words[i][2] != '\0')
			given = words[i] + 2;
		else if (g_str_has_prefix(words[i], "--file="))
			given = words[i] + strlen("--file=");
	}
	for (size_t i = 0; i < (given != NULL ? 1 : G_N_ELEMENTS(names)); i++) {
		g_autofree char *path = g_canonicalize_filename(
			given != NULL ? given : names[i], directory);
		const Script *script = script_at(self, path, LODE_SCRIPT_OF_MAKE);
		if (script != NULL)
			return script;
	}
	return NULL;
}

static const Script *script_of(Search *self, const LodeWaitProcess *process)
{
	g_auto(GStrv) words = NULL;

	if (process->command == NULL || process->directory == NULL ||
		process->directory[0] != '/' ||
		!g_shell_parse_argv(process->command, NULL, &words, NULL))
		return NULL;
	g_autofree char *program = g_path_get_basename(words[0]);
	if (strcmp(program, "make") == 0 || strcmp(program, "gmake") == 0)
		return script_of_make(self, words, process->directory);
	const char *name = lode_is_shell(program) ? script_of_shell(words) : NULL;
	if (name == NULL)
		return NULL;
	g_autofree char *path = g_canonicalize_filename(name, process->directory);
	return script_at(self, path, LODE_SCRIPT_OF_SHELL);
}

/* Parents come before those that they start. */
static void find(Search *self, uint32_t i)
{
	const LodeWaitProcess *one = &g_array_index(self->waits->processes, LodeWaitProcess, i);
	const Script *script = one->parent < i ? self->script[one->parent] : NULL;
	const LodeScriptCommand *command = script != NULL
	                                           ? lode_script_commands_find(script->commands,
							     one->name,
							     one->is_cut ? NULL : one->command)
	                                           : NULL;

	if (command != NULL)
		self->starts[i] = (LodeWaitStart){.process = i,
			.function = command->function != NULL
		                            ? lode_profile_intern(self->profile, command->function)
		                            : NULL,
			.file = lode_profile_intern(self->profile, script->path),
			.line = command->line};
	else if (script == NULL && one->parent < i)
		self->starts[i] = self->starts[one->parent];
	self->starts[i].process = i;
	self->script[i] = script_of(self, one);
}

void lode_process_starts_find(LodeProfile *profile, LodeWaits *waits)
{
	guint n = waits->processes->len;
	g_autoptr(GHashTable)
		scripts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, script_free);
	g_autofree const Script **script = g_new0(const Script *, MAX(n, 1));
	g_autofree LodeWaitStart *starts = g_new0(LodeWaitStart, MAX(n, 1));
	Search self = {profile, waits, scripts, script, starts};

	for (uint32_t i = 0; i < n; i++)
		find(&self, i);
	for (uint32_t i = 0; i < n; i++)
		if (starts[i].file != NULL)
			g_array_append_val(waits->starts, starts[i]);
}
