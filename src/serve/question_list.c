/* SPDX-License-Identifier: MIT */
/* The questions that the page can ask, with their parameters, from the rows of which --help is
 * made. */
#include "base/text/json_stream.h"
#include "questions/questions.h"
#include "serve/query.h"
#include "views/form/format.h"

/* How a value is given: what a field for it looks like. */
static const char *kind_of(const LodeParameter *row)
{
	switch (row->kind) {
	case LODE_PARAMETER_FLAG:
		return "flag";
	case LODE_PARAMETER_TEXTS:
		return "texts";
	case LODE_PARAMETER_WORD:
		return "word";
	default:
		return "text";
	}
}

static void put_parameter(LodeJsonStream *json, const char *group, const LodeParameter *row)
{
	g_auto(GStrv) words = row->kind == LODE_PARAMETER_WORD ? g_strsplit(row->value, "|", -1)
	                                                       : NULL;

	lode_json_begin(json, '{');
	lode_json_member_string(json, "name", row->name);
	lode_json_member_string(json, "group", group);
	lode_json_member_string(json, "kind", kind_of(row));
	lode_json_member_string(json, "value", row->value);
	lode_json_key(json, "words");
	lode_json_begin(json, '[');
	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		lode_json_string(json, words[i]);
	lode_json_end(json, ']');
	lode_json_member_string(json, "summary", row->summary);
	lode_json_end(json, '}');
}

static void put_question(LodeJsonStream *json, const LodeVerb *question)
{
	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "name", question->name);
	lode_json_key(json, "parameters");
	lode_json_begin(json, '[');
	for (const LodeParameterGroup *group = question->groups; group->title != NULL; group++)
		for (const LodeParameter *row = group->rows; row->name != NULL; row++)
			if (row->audience != LODE_PARAMETER_FOR_TERMINAL)
				put_parameter(json, group->title, row);
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

bool lode_question_list_write(FILE *out, GError **error)
{
	LodeJsonStream json;

	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_key(&json, "questions");
	lode_json_begin(&json, '[');
	for (size_t i = 0; lode_questions[i] != NULL; i++)
		put_question(&json, lode_questions[i]);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
	return lode_view_flush(out, error);
}
