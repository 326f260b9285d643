/* SPDX-License-Identifier: MIT */
#include "cli/verb_table.h"

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
	&lode_verb_trace_simulate,
	&lode_verb_import,
	&lode_verb_export,
	&lode_verb_merge,
	&lode_verb_mine,
	&lode_verb_report,
	&lode_verb_annotate,
	&lode_verb_diff,
	&lode_verb_memory,
	&lode_verb_place,
	&lode_verb_place_apply,
	&lode_verb_place_export,
	&lode_verb_signature,
	&lode_verb_classify,
	&lode_verb_serve,
	&lode_verb_info,
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

/* The n-th of a table, or NULL with the table's length taken off *n. */
static const GOptionEntry *take(const GOptionEntry *options, size_t *n)
{
	for (size_t i = 0; options != NULL && options[i].long_name != NULL; i++, (*n)--)
		if (*n == 0)
			return &options[i];
	return NULL;
}

const GOptionEntry *lode_verb_option(const LodeVerb *self, size_t n)
{
	static const GOptionEntry help[] = {
		{"help", 'h', 0, G_OPTION_ARG_NONE, NULL, "show this help and exit", NULL},
		G_OPTION_ENTRY_NULL,
	};
	const GOptionEntry *option = take(self->options, &n);

	for (size_t i = 0; option == NULL && self->groups != NULL && self->groups[i].title != NULL;
		i++)
		option = take(self->groups[i].options, &n);
	return option != NULL ? option : take(help, &n);
}

const char *lode_option_value(const GOptionEntry *option)
{
	bool takes_none = option->arg == G_OPTION_ARG_NONE ||
	                  (option->arg == G_OPTION_ARG_CALLBACK &&
				  (option->flags & G_OPTION_FLAG_NO_ARG) != 0);

	if (takes_none)
		return NULL;
	return option->arg_description != NULL ? option->arg_description : "VALUE";
}
