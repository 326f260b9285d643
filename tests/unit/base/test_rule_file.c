/* SPDX-License-Identifier: MIT */
/* Rules from groups and keys, what they have from each other, and messages. */
#include "base/text/rule_file.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

typedef struct Rule {
	const char *group;
	const char *title, *own;
	bool is_common;
	double least;
	LodeGlobs *functions;
	const struct Rule *rest, *base;
} Rule;

static const LodeRuleKey keys[] = {
	{"title", offsetof(Rule, title), LODE_RULE_KEY_TEXT, .is_needed = true, .is_lent = true},
	{"own", offsetof(Rule, own), LODE_RULE_KEY_TEXT},
	{"names", offsetof(Rule, is_common), LODE_RULE_KEY_WORD, .word = "common"},
	{"least", offsetof(Rule, least), LODE_RULE_KEY_NUMBER, .most = 2, .is_lent = true},
	{"functions", offsetof(Rule, functions), LODE_RULE_KEY_GLOBS},
	{"for ", offsetof(Rule, functions), LODE_RULE_KEY_GLOBS_FOR},
	{"rest", offsetof(Rule, rest), LODE_RULE_KEY_OTHER},
	{"like", offsetof(Rule, base), LODE_RULE_KEY_BASE},
};
static const LodeRuleForm form = {"test.ini", sizeof(Rule), keys, G_N_ELEMENTS(keys)};

static void test_rules(void)
{
	static const char text[] = "# head\n[a]\nlike = b\nfunctions = f; g*;h?i\nnames = common\n"
				   "[b]\nlike = c\nown = o\nleast = 2\nrest = a\n"
				   "[c]\ntitle = t\nleast = 0.5\n";
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeRuleFile) file = lode_rule_file_read(&form, text, &error);

	g_assert_no_error(error);
	g_assert_cmpint(file->n, ==, 3);
	const Rule *a = lode_rule_file_at(file, 0), *b = lode_rule_file_named(file, "b"),
		   *c = lode_rule_file_named(file, "c");
	g_assert_cmpstr(a->group, ==, "a");
	g_assert_true(a->base == b && b->base == c && c->base == NULL && b->rest == a);
	g_assert_cmpstr(a->title, ==, "t");
	g_assert_null(a->own);
	g_assert_true(a->is_common && !b->is_common);
	g_assert_true(a->least == 2 && b->least == 2 && c->least == 0.5);
	g_assert_null(b->functions);
	g_assert_null(lode_rule_file_named(file, "d"));
	static const char *const matching[] = {"f", "g", "gg", "hxi"}, *const other[] = {"", "ff",
									       "xg", "hi", "hxxi"};
	for (size_t i = 0; i < G_N_ELEMENTS(matching); i++)
		g_assert_true(lode_globs_match(a->functions, matching[i]));
	for (size_t i = 0; i < G_N_ELEMENTS(other); i++)
		g_assert_false(lode_globs_match(a->functions, other[i]));
}

/* Sets of globs are in place of their names. */
static void test_sets(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeRuleFile) file = lode_rule_file_read(&form,
		"[@sets]\ntwo=f;g*\n[a]\ntitle=t\nfunctions=h;@two\n[b]\n"
		"title=t\nfunctions=i\n[c]\ntitle=t\nfor one=@two\n",
		&error);

	g_assert_no_error(error);
	g_assert_cmpint(file->n, ==, 3);
	const Rule *a = lode_rule_file_at(file, 0), *c = lode_rule_file_at(file, 2);
	Rule *b = lode_rule_file_at(file, 1);
	g_assert_cmpstr(a->group, ==, "a");
	for (const char *const *name = (const char *const[]){"f", "gg", "h", NULL}; *name; name++)
		g_assert_true(lode_globs_match(a->functions, *name));
	g_assert_false(lode_globs_match(a->functions, "@two"));
	g_assert_false(lode_globs_match(b->functions, "gg"));
	lode_globs_add_for(&b->functions, c->functions, "one");
	g_assert_true(lode_globs_match(b->functions, "gg"));
}

/* Globs for users are the rule's, too. */
static void test_users(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeRuleFile) file = lode_rule_file_read(&form,
		"[a]\ntitle=t\nfor the one;two=f;g*\nfor two=h\n[b]\ntitle=t\nfunctions=b\n",
		&error);

	g_assert_no_error(error);
	const LodeGlobs *a = ((const Rule *)lode_rule_file_at(file, 0))->functions;
	Rule *b = lode_rule_file_at(file, 1);
	g_assert_true(
		lode_globs_match(a, "f") && lode_globs_match(a, "gg") && lode_globs_match(a, "h"));
	lode_globs_add_for(&b->functions, a, "one");
	g_assert_false(lode_globs_match(b->functions, "f"));
	lode_globs_add_for(&b->functions, a, "the one");
	g_assert_true(lode_globs_match(b->functions, "b") && lode_globs_match(b->functions, "f") &&
		      lode_globs_match(b->functions, "gg"));
	g_assert_false(lode_globs_match(b->functions, "h"));
}

static void test_errors(void)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"[a]\ntitle = t\nnonsense = 1\n", "'nonsense': expected a known key"},
		{"[a]\nown = t\n", "'title': expected a text"},
		{"[a]\ntitle =\n", "'title': expected a text"},
		{"[a]\ntitle = t\nnames = rare\n", "'names': expected 'common'"},
		{"[a]\ntitle = t\nleast = much\n", "'least': expected a number from 0 to 2"},
		{"[a]\ntitle = t\nleast = 2.1\n", "'least': expected a number from 0 to 2"},
		{"[a]\ntitle = t\nleast = -1\n", "'least': expected a number from 0 to 2"},
		{"[a]\ntitle = t\nleast = nan\n", "'least': expected a number from 0 to 2"},
		{"[a]\ntitle = t\nleast = 1x\n", "'least': expected a number from 0 to 2"},
		{"[a]\ntitle = t\nfunctions = f;;g\n",
			"'functions': expected patterns, separated by ';'"},
		{"[a]\ntitle = t\nfunctions = @b\n",
			"'functions': expected patterns, separated by ';'"},
		{"[@sets]\nb = f;@b\n[a]\ntitle = t\nfunctions = @b\n",
			"'functions': expected patterns, separated by ';'"},
		{"[a]\ntitle = t\nfor b = f;;g\n", "'for ': expected patterns, separated by ';'"},
		{"[a]\ntitle = t\nrest = b\n", "'rest': expected the name of another group"},
		{"[a]\ntitle = t\nlike = a\n", "'like': expected the name of another group"},
		{"[a]\ntitle = t\nlike = b\n[b]\nlike = a\n",
			"'like': expected a group that has nothing from this one"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *message = g_strconcat(
			"test.ini: group 'a': ", wrong[i].message, NULL);
		g_assert_null(lode_rule_file_read(&form, wrong[i].text, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_cmpstr(error->message, ==, message);
	}
	g_autoptr(GError) error = NULL;
	g_assert_null(lode_rule_file_read(&form, "[a\n", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_true(g_str_has_prefix(error->message, "test.ini: "));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/base/rule_file/rules", test_rules);
	g_test_add_func("/base/rule_file/sets", test_sets);
	g_test_add_func("/base/rule_file/users", test_users);
	g_test_add_func("/base/rule_file/errors", test_errors);
	return g_test_run();
}
