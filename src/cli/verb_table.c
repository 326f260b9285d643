/* SPDX-License-Identifier: MIT */
#include "cli/verb_table.h"

#include "questions/questions.h"

#include <string.h>

const LodeVerb *const lode_verbs[] = {
	&lode_verb_run,
	&lode_verb_record,
	&lode_verb_memory_record,
	&lode_verb_trace_record,
	&lode_verb_trace_pack,
	&lode_verb_trace_unpack,
	&lode_verb_trace_cut,
	&lode_verb_trace_info,
	&lode_question_trace_simulate,
	&lode_verb_import,
	&lode_verb_export,
	&lode_verb_merge,
	&lode_verb_mine,
	&lode_question_report,
	&lode_question_annotate,
	&lode_question_diff,
	&lode_question_memory,
	&lode_question_place,
	&lode_verb_place_apply,
	&lode_verb_place_export,
	&lode_verb_signature,
	&lode_verb_classify,
	&lode_verb_serve,
	&lode_question_info,
	NULL,
};

static const LodeVerb *find_name(const char *name)
{
	for (size_t i = 0; lode_verbs[i] != NULL; i++)
		if (strcmp(lode_verbs[i]->name, name) == 0)
			return lode_verbs[i];
	return NULL;
}

const LodeVerb *lode_verb_find(char *const *words, size_t *out_n_words)
{
	if (words[0] == NULL)
		return NULL;
	if (words[1] != NULL) {
		g_autofree char *name = g_strconcat(words[0], " ", words[1], NULL);
		const LodeVerb *verb = find_name(name);
		*out_n_words = 2;
		if (verb != NULL)
			return verb;
	}
	*out_n_words = 1;
	return find_name(words[0]);
}

char *lode_verb_name(const LodeVerb *self, char separator)
{
	return g_strdelimit(g_strdup(self->name), " ", separator);
}

/* TEMPORARY: a table of GOption as one of parameters. */
static const LodeParameter *convert(const GOptionEntry *options)
{
	GArray *rows = g_array_new(TRUE, TRUE, sizeof(LodeParameter));

	for (; options != NULL && options->long_name != NULL; options++) {
		bool is_list = options->arg == G_OPTION_ARG_STRING_ARRAY ||
		               options->arg == G_OPTION_ARG_FILENAME_ARRAY;
		LodeParameter row = {.name = options->long_name,
			.letter = options->short_name,
			.kind = options->arg == G_OPTION_ARG_NONE ? LODE_PARAMETER_FLAG
		                : is_list                         ? LODE_PARAMETER_TEXTS
		                                                  : LODE_PARAMETER_TEXT,
			.value = options->arg_description,
			.summary = options->description};
		g_array_append_val(rows, row);
	}
	return (const LodeParameter *)(void *)g_array_free(rows, FALSE);
}

LodeParameterGroup *lode_verb_groups(const LodeVerb *self)
{
	static const LodeParameter help[] = {
		{"help", 'h', .kind = LODE_PARAMETER_FLAG, .summary = "show this help and exit"},
		{NULL},
	};
	const LodeParameterGroup last = {"Help", help, 0};
	GArray *groups = g_array_new(TRUE, TRUE, sizeof(LodeParameterGroup));

	if (self->old_options != NULL) {
		LodeParameterGroup group = {"Options", convert(self->old_options), 0};
		g_array_append_val(groups, group);
	}
	for (const LodeOptionGroup *at = self->old_groups; at != NULL && at->title != NULL; at++) {
		LodeParameterGroup group = {at->title, convert(at->options), 0};
		g_array_append_val(groups, group);
	}
	for (const LodeParameterGroup *at = self->groups; at != NULL && at->title != NULL; at++)
		g_array_append_val(groups, *at);
	g_array_append_val(groups, last);
	return (LodeParameterGroup *)(void *)g_array_free(groups, FALSE);
}
