/* SPDX-License-Identifier: MIT */
/* The control flow of a function. */
#include "views/code/function_graph.h"

#include "base/error.h"
#include "model/code.h"
#include "questions/parts/part_rows.h"
#include "questions/parts/rows.h"
#include "questions/questions.h"

enum { DEFAULT_LIMIT = 150 };

typedef struct {
	LodeFunctionGraphOptions graph;
	LodePartChoice part;
	const char *weight;
	bool has_function;
	LodeViewFormat format;
} Options;

static const LodeParameter rows[] = {
	{"function-number", LODE_COUNT(Options, graph.function), .most = UINT32_MAX - 1,
		.value = "N", .given = offsetof(Options, has_function),
		.summary = "the number of the function in the profile"},
	{"around", LODE_ADDRESS(Options, graph.around), .value = "ADDRESS",
		.given = offsetof(Options, graph.has_around),
		.summary =
			"in a larger graph, the blocks around the one with this address (default: "
			"around the costliest)"},
	{"limit", LODE_COUNT(Options, graph.limit), .value = "N",
		.summary = "show at most N blocks (default: 150; 0: all)"},
	LODE_EVENT_ROW(Options, weight),
	{"format", LODE_WORD(Options, format), .value = "json", .summary = "only JSON"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part", lode_part_rows, offsetof(Options, part)},
	{NULL},
};

static void init(void *options)
{
	((Options *)options)->graph.limit = DEFAULT_LIMIT;
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	Options *self = options;
	const LodeProfile *profile;

	if (!self->has_function)
		return lode_parameter_refuse(error, "--function-number is missing");
	profile = asking->asker->profile(asking, 0,
		&(const LodeProfileChoice){
			.has_memory = true, .part = self->part, .event = self->weight},
		error);
	FILE *out = profile != NULL ? lode_asking_begin(asking, NULL, error) : NULL;
	if (out == NULL)
		return false;
	self->graph.weight_event = lode_code_of(profile)->weight_event;
	return lode_function_graph_write(profile, &self->graph, out, error) &&
	       lode_asking_end(asking, error);
}

const LodeVerb lode_question_graph = {
	.name = "graph",
	.summary = "show the control flow of a function",
	.groups = groups,
	.size = sizeof(Options),
	.init = init,
	.answer = answer,
};
