/* SPDX-License-Identifier: MIT */
/* What threads waited for, where, and how long. */
#include "questions/parts/part_rows.h"
#include "questions/parts/rows.h"
#include "questions/parts/wait_question.h"
#include "questions/questions.h"

typedef struct {
	LodeWaitListOptions list;
	LodePartChoice part;
} Options;

static const LodeParameter rows[] = {
	{"limit", LODE_COUNT(Options, list.limit), .value = "N", .summary = "at most N rows"},
	LODE_OWN_ROW(Options, list.own),
	LODE_FORMAT_ROW(Options, list.format),
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part", lode_part_rows, offsetof(Options, part)},
	{NULL},
};

bool lode_waits_answer(LodeAsking *asking, const LodeProfileChoice *choice,
	LodeWaitListOptions *options, GError **error)
{
	const LodeProfile *profile = asking->asker->profile(asking, 0, choice, error);
	FILE *out = profile != NULL ? lode_asking_begin(asking, NULL, error) : NULL;
	bool has_full_names = options->terminal.has_full_names;

	options->terminal = asking->terminal;
	options->terminal.has_full_names = has_full_names;
	return out != NULL && lode_wait_list_write(profile, options, out, error) &&
	       lode_asking_end(asking, error);
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	Options *self = options;
	const LodeProfileChoice choice = {.has_stacks = true, .part = self->part};

	return lode_waits_answer(asking, &choice, &self->list, error);
}

const LodeVerb lode_question_waits = {
	.name = "waits",
	.summary = "list what threads waited for",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
};
