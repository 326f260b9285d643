/* SPDX-License-Identifier: MIT */
/* The contents of a profile, and its quality. */
#include "views/profile/info.h"

#include "questions/parts/rows.h"
#include "questions/questions.h"

static const LodeParameter rows[] = {LODE_FORMAT_ROW(LodeInfoOptions, format), {NULL}};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	const LodeProfileChoice choice = {.has_memory = true};
	const LodeProfile *profile = asking->asker->profile(asking, 0, &choice, error);
	GPtrArray *runs = profile != NULL ? asking->asker->runs(asking, error) : NULL;
	FILE *out = runs != NULL ? lode_asking_begin(asking, NULL, error) : NULL;
	LodeInfoOptions *view = options;

	if (out == NULL)
		return false;
	view->terminal = asking->terminal;
	view->profile_path = asking->is_page ? NULL : asking->paths[0];
	return lode_info_write(profile, runs, view, out, error) && lode_asking_end(asking, error);
}

const LodeVerb lode_question_info = {
	.name = "info",
	.arguments = "PROFILE.lode",
	.summary = "show the contents and quality of a profile",
	.description =
		"Shows the program, the events and their totals, the images with their share "
		"of the weight, the numbers of functions, blocks, instructions and edges, flow "
		"conservation, the share of samples with a data address, what could not be "
		"resolved by reason, and the mining runs.\n"
		"\n"
		"Example:\n"
		"  lode info x.lode --format json",
	.groups = groups,
	.size = sizeof(LodeInfoOptions),
	.answer = answer,
};
