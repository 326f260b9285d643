/* SPDX-License-Identifier: MIT */
/* The control flow of a function. */
#include "views/code/function_graph.h"

#include "base/error.h"
#include "questions/parts/part_rows.h"
#include "questions/questions.h"

typedef struct {
	LodePartChoice part;
	uint64_t function;
	bool has_function;
	LodeViewFormat format;
} Options;

static const LodeParameter rows[] = {
	{"function-number", LODE_COUNT(Options, function), .most = UINT32_MAX - 1, .value = "N",
		.given = offsetof(Options, has_function),
		.summary = "the number of the function in the profile"},
	{"format", LODE_WORD(Options, format), .value = "json", .summary = "only JSON"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part", lode_part_rows, offsetof(Options, part)},
	{NULL},
};

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	const Options *self = options;
	const LodeProfile *profile;

	if (!self->has_function)
		return lode_parameter_refuse(error, "--function-number is missing");
	profile = asking->asker->profile(asking, 0,
		&(const LodeProfileChoice){.has_memory = true, .part = self->part}, error);
	FILE *out = profile != NULL ? lode_asking_begin(asking, NULL, error) : NULL;
	return out != NULL &&
	       lode_function_graph_write(
		       profile, profile->weight_event, self->function, out, error) &&
	       lode_asking_end(asking, error);
}

const LodeVerb lode_question_graph = {
	.name = "graph",
	.summary = "show the control flow of a function",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
};
