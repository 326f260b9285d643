/* SPDX-License-Identifier: MIT */
#include "questions/questions.h"

#include <string.h>

const LodeVerb *const lode_questions[] = {
	&lode_question_report,
	&lode_question_annotate,
	&lode_question_diff,
	&lode_question_memory,
	&lode_question_place,
	&lode_question_trace_info,
	&lode_question_trace_simulate,
	&lode_question_info,
	&lode_question_functions,
	&lode_question_flame,
	&lode_question_calls,
	&lode_question_graph,
	&lode_question_heat,
	&lode_question_programs,
	&lode_question_timeline,
	&lode_question_waits,
	NULL,
};

const LodeVerb *lode_question_find(const char *name)
{
	g_autofree char *words = g_strdelimit(g_strdup(name), "-", ' ');

	for (size_t i = 0; lode_questions[i] != NULL; i++)
		if (strcmp(lode_questions[i]->name, words) == 0)
			return lode_questions[i];
	return NULL;
}
