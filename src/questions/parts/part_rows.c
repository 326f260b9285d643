/* SPDX-License-Identifier: MIT */
#include "questions/parts/part_rows.h"

#include "views/form/shell_word.h"

typedef LodePartChoice Choice;

const LodeParameter lode_part_rows[] = {
	{"thread", LODE_TEXTS(Choice, threads), .value = "GLOB|TID",
		.summary =
			"only samples of threads whose name matches, or of this thread id; may be "
			"repeated"},
	{"command", LODE_TEXTS(Choice, commands), .value = "GLOB",
		.summary = "only samples of processes whose name matches; may be repeated"},
	{"pid", LODE_TEXTS(Choice, pids), .value = "N",
		.summary = "only samples of this process; may be repeated"},
	{"time", LODE_TEXT(Choice, time), .value = "FROM..TO",
		.summary = "only samples of this time, in seconds since the first one: 1.5..2.25, "
			   "1500ms.., ..2"},
	{"where", LODE_TEXT(Choice, where), .value = "EXPRESSION",
		.summary = "only samples for which this is true, such as 'thread =~ \"^io\" && "
			   "time < 2s'"},
	{NULL},
};

const char *const lode_run_parameters[] = {
	"run", "origin", "weight", "thread", "command", "pid", "time", "where", NULL};

static void add(GString *out, const char *name, const char *value)
{
	g_autofree char *word = value != NULL ? lode_shell_word(value) : NULL;

	if (value != NULL)
		g_string_append_printf(out, "%s--%s %s", out->len > 0 ? " " : "", name, word);
}

static void add_all(GString *out, const char *name, const char *const *values)
{
	for (; values != NULL && *values != NULL; values++)
		add(out, name, *values);
}

char *lode_part_options(const LodePartChoice *choice)
{
	GString *out = g_string_new(NULL);

	add_all(out, "thread", choice->threads);
	add_all(out, "command", choice->commands);
	add_all(out, "pid", choice->pids);
	add(out, "time", choice->time);
	add(out, "where", choice->where);
	return g_string_free(out, FALSE);
}
