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
	&lode_question_trace_info,
	&lode_question_trace_simulate,
	&lode_verb_import,
	&lode_verb_export,
	&lode_verb_merge,
	&lode_verb_mine,
	&lode_question_report,
	&lode_question_annotate,
	&lode_question_diff,
	&lode_verb_compare,
	&lode_question_memory,
	&lode_question_place,
	&lode_verb_place_apply,
	&lode_verb_place_export,
	&lode_verb_signature,
	&lode_verb_classify,
	&lode_verb_serve,
	&lode_question_info,
	&lode_verb_mcp,
	&lode_verb_guide,
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

LodeParameterGroup *lode_verb_groups(const LodeVerb *self)
{
	static const LodeParameter help[] = {
		{"help", 'h', .kind = LODE_PARAMETER_FLAG, .summary = "show this help and exit"},
		{NULL},
	};
	const LodeParameterGroup last = {"Help", help, 0};
	GArray *groups = g_array_new(TRUE, TRUE, sizeof(LodeParameterGroup));

	for (const LodeParameterGroup *at = self->groups; at != NULL && at->title != NULL; at++)
		g_array_append_val(groups, *at);
	g_array_append_val(groups, last);
	return (LodeParameterGroup *)(void *)g_array_free(groups, FALSE);
}
