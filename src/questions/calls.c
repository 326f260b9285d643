/* SPDX-License-Identifier: MIT */
/* The direct callers and callees of a function. */
#include "views/calls/function_calls.h"

#include "model/code.h"
#include "questions/parts/part_rows.h"
#include "questions/parts/rows.h"
#include "questions/questions.h"

typedef struct {
	LodeFunctionCallsOptions calls;
	LodePartChoice part;
	const char *weight;
} Options;

static const LodeParameter rows[] = {
	{"function", LODE_TEXT(Options, calls.name), .value = "NAME|N",
		.summary = "the function: its name, or its number in the profile"},
	{"limit", LODE_COUNT(Options, calls.limit), .value = "N",
		.summary = "at most N callers and N callees"},
	LODE_EVENT_ROW(Options, weight),
	LODE_FORMAT_ROW(Options, calls.format),
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0}, {"Part", lode_part_rows, offsetof(Options, part)}, {NULL}};

static void init(void *options)
{
	Options *self = options;

	self->calls.has_callers = self->calls.has_callees = true;
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	Options *self = options;

	if (self->calls.name == NULL)
		return lode_parameter_refuse(error, "--function is missing");
	const LodeProfileChoice choice = {
		.has_stacks = true, .part = self->part, .event = self->weight};
	const LodeProfile *profile = asking->asker->profile(asking, 0, &choice, error);
	FILE *out = profile != NULL ? lode_asking_begin(asking, NULL, error) : NULL;
	self->calls.terminal = asking->terminal;
	return out != NULL &&
	       lode_function_calls_write(
		       profile, lode_code_of(profile)->weight_event, &self->calls, out, error) &&
	       lode_asking_end(asking, error);
}

const LodeVerb lode_question_calls = {
	.name = "calls",
	.summary = "list the callers and callees of a function",
	.groups = groups,
	.size = sizeof(Options),
	.init = init,
	.answer = answer,
};
