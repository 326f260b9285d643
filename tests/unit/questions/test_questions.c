/* SPDX-License-Identifier: MIT */
/* The tables of all questions: names that exclude and need each other are those of rows. */
#include "questions/questions.h"

#include <string.h>

static void check_names(const LodeVerb *question, const LodeParameter *row, const char *names)
{
	g_auto(GStrv) list = g_strsplit(names != NULL ? names : "", " ", -1);

	for (size_t i = 0; list[i] != NULL; i++) {
		if (strcmp(list[i], "*") == 0)
			continue;
		if (strcmp(list[i], row->name) == 0 ||
			lode_parameter_find(question->groups, list[i]) == NULL)
			g_error("%s: %s names '%s'", question->name, row->name, list[i]);
	}
}

static void test_names(void)
{
	size_t n = 0;

	for (size_t i = 0; lode_questions[i] != NULL; i++) {
		const LodeVerb *question = lode_questions[i];
		const LodeParameter *row;
		g_assert_true(lode_question_find(question->name) == question);
		g_assert_nonnull(question->answer);
		for (size_t j = 0; (row = lode_parameter_row(question->groups, j)) != NULL; j++) {
			/* No second row has the name. */
			g_assert_true(lode_parameter_find(question->groups, row->name) == row);
			g_assert_nonnull(row->summary);
			g_assert_true(row->kind == LODE_PARAMETER_FLAG || row->value != NULL);
			check_names(question, row, row->excludes);
			check_names(question, row, row->needs);
			n++;
		}
	}
	g_assert_cmpuint(n, >, 100);
}

/* Defaults are values that can be read. */
static void test_defaults(void)
{
	for (size_t i = 0; lode_questions[i] != NULL; i++) {
		const LodeVerb *question = lode_questions[i];
		g_autofree void *options = g_malloc0(question->size);
		g_auto(LodeParameterPairs) none;
		g_autoptr(GPtrArray) lists = NULL;
		g_autoptr(GError) error = NULL;
		lode_parameter_pairs_init(&none);
		lode_parameters_fill(
			question->groups, &none, LODE_PARAMETER_FOR_PAGE, options, &lists, &error);
		g_assert_no_error(error);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/questions/names", test_names);
	g_test_add_func("/questions/defaults", test_defaults);
	return g_test_run();
}
