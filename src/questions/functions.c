/* SPDX-License-Identifier: MIT */
/* The functions of a profile: sorted, searched, in pages; alone and with what they call. */
#include "views/code/function_list.h"

#include "model/code.h"
#include "questions/parts/part_rows.h"
#include "questions/parts/rows.h"
#include "questions/questions.h"

typedef struct {
	LodeFunctionListOptions list;
	LodePartChoice part;
	const char *weight;
} Options;

static const LodeParameter rows[] = {
	{"sort", LODE_WORD(Options, list.order),
		.value = "weight|inclusive|executions|calls|name|image",
		.read = lode_function_order_from_text, .summary = "the order of rows"},
	{"reverse", LODE_FLAG(Options, list.is_reversed), .summary = "reverse the order"},
	{"text", LODE_TEXT(Options, list.text), .value = "TEXT",
		.summary = "only functions that have this in their names"},
	{"image", LODE_TEXT(Options, list.image), .value = "TEXT",
		.summary = "only functions of images that have this in their paths"},
	{"offset", LODE_COUNT(Options, list.offset), .value = "N",
		.summary = "leave out the first N functions"},
	{"limit", LODE_COUNT(Options, list.limit), .value = "N", .summary = "at most N functions"},
	LODE_EVENT_ROW(Options, weight),
	LODE_FORMAT_ROW(Options, list.format),
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part", lode_part_rows, offsetof(Options, part)},
	{NULL},
};

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	Options *self = options;
	const LodeProfileChoice choice = {
		.has_stacks = true, .part = self->part, .event = self->weight};
	const LodeProfile *profile = asking->asker->profile(asking, 0, &choice, error);
	FILE *out = profile != NULL ? lode_asking_begin(asking, NULL, error) : NULL;

	self->list.terminal = asking->terminal;
	return out != NULL &&
	       lode_function_list_write(
		       profile, lode_code_of(profile)->weight_event, &self->list, out, error) &&
	       lode_asking_end(asking, error);
}

const LodeVerb lode_question_functions = {
	.name = "functions",
	.summary = "list functions by what they cost",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
};
