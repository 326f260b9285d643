/* SPDX-License-Identifier: MIT */
/* The cost of each thread over time, for the page to draw. */
#include "questions/questions.h"
#include "views/parts/program_list.h"

typedef struct {
	uint32_t n_bins;
	LodeViewFormat format;
} Options;

static const LodeParameter rows[] = {
	{"bins", LODE_COUNT(Options, n_bins), .least = 1, .most = LODE_TIMELINE_MAX_BINS,
		.value = "N", .standard = "200", .summary = "in so many stretches of time"},
	{"format", LODE_WORD(Options, format), .value = "json", .summary = "only JSON"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	const Options *self = options;
	const LodeProfile *profile = asking->asker->profile(
		asking, 0, &(const LodeProfileChoice){.has_stacks = true}, error);
	FILE *out = profile != NULL ? lode_asking_begin(asking, NULL, error) : NULL;

	return out != NULL && lode_timeline_write(profile, self->n_bins, out, error) &&
	       lode_asking_end(asking, error);
}

const LodeVerb lode_question_timeline = {
	.name = "timeline",
	.summary = "show what threads cost over time",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
};
