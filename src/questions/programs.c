/* SPDX-License-Identifier: MIT */
/* Programs, processes and threads by what they cost, and when they ran. */
#include "base/error.h"
#include "model/stacks.h"
#include "questions/parts/part_rows.h"
#include "questions/parts/program_question.h"
#include "questions/parts/rows.h"
#include "questions/questions.h"

typedef struct {
	LodeProgramListOptions list;
	LodePartChoice part;
} Options;

static const LodeParameter rows[] = {
	{"by", LODE_WORD(Options, list.by), .value = "command|pid|thread",
		.summary = LODE_PROGRAMS_BY_SUMMARY},
	{"limit", LODE_COUNT(Options, list.limit), .value = "N", .summary = "at most N rows"},
	LODE_FORMAT_ROW(Options, list.format),
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part", lode_part_rows, offsetof(Options, part)},
	{NULL},
};

bool lode_programs_answer(LodeAsking *asking, LodeProgramListOptions *options,
	const LodePartChoice *part, GError **error)
{
	const LodeProfileChoice choice = {.has_stacks = true, .part = *part};
	const LodeProfile *profile = asking->asker->profile(asking, 0, &choice, error);

	if (profile == NULL)
		return false;
	if (lode_stacks_of(profile) == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: the profile has no samples with threads and times; import the "
			"recording of 'lode run', 'lode record' or perf with this version of lode",
			asking->names[0]);
		return false;
	}
	FILE *out = lode_asking_begin(asking, NULL, error);
	if (out == NULL)
		return false;
	options->terminal = asking->terminal;
	return lode_program_list_write(profile, options, out, error) &&
	       lode_asking_end(asking, error);
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	Options *self = options;

	return lode_programs_answer(asking, &self->list, &self->part, error);
}

const LodeVerb lode_question_programs = {
	.name = "programs",
	.summary = "list programs, processes or threads by what they cost",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
};
