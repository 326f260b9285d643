/* SPDX-License-Identifier: MIT */
/* The expression language: values by hand, the texts of its errors, and what it refuses. */
#include "analyses/memory/expressions/expression.h"
#include "analyses/memory/expressions/expression_lexer.h"
#include "analyses/memory/sample_attributes.h"
#include "base/error.h"
#include "model/memory.h"
#include "sample_profile.h"

#include <string.h>

typedef struct {
	LodeProfile *profile;
	LodeSampleAttributes *attributes;
	LodeExpressionScope *scope;
} Fixture;

/* Sample 0 is an access of thread 2 to struct node.key, sample 1 has no address. */
static void set_up(Fixture *self, const void *data)
{
	(void)data;
	self->profile = sample_profile_new(3, 1 << 16);
	LodeMemorySample *sample = sample_profile_access(
		self->profile, 2, SAMPLE_NODES + 24 * 100 + 12, LODE_ACCESS_STORE, 5);
	sample->latency = 120;
	sample->weight = 2.5;
	sample_profile_unresolved(self->profile, 0, LODE_REASON_TLS)->cpu = UINT32_MAX;
	self->attributes = lode_sample_attributes_new(self->profile, NULL);
	self->scope = lode_expression_scope_new(&lode_sample_attribute_source);
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_expression_scope_free(self->scope);
	lode_sample_attributes_free(self->attributes);
	lode_profile_free(self->profile);
}

/* The value of the expression as text. */
static char *value_of(Fixture *self, const char *text, uint32_t sample)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeExpression) expression = lode_expression_new(text, self->scope, &error);
	LodeValue value;

	g_assert_no_error(error);
	g_autoptr(LodeEvaluator) evaluator = lode_evaluator_new(expression, self->attributes);
	bool is_good = lode_evaluator_run(evaluator,
		&LODE_AT(self->profile->memory->samples, LodeMemorySample, sample), &value, &error);
	g_assert_no_error(error);
	g_assert_true(is_good);
	if (value.kind != LODE_VALUE_NONE)
		g_assert_cmpint(value.kind, ==, lode_expression_kind(expression));
	GString *out = g_string_new(NULL);
	lode_value_append(&value, lode_expression_is_hex(expression), out);
	return g_string_free(out, FALSE);
}

typedef struct {
	const char *text, *value;
} Case;

static void check_cases(Fixture *self, const Case *cases, size_t n, uint32_t sample)
{
	for (size_t i = 0; i < n; i++) {
		g_autofree char *value = value_of(self, cases[i].text, sample);
		if (strcmp(value, cases[i].value) != 0)
			g_error("%s: '%s' instead of '%s'", cases[i].text, value, cases[i].value);
	}
}

static void test_numbers(Fixture *self, const void *data)
{
	static const Case cases[] = {
		{"1 + 2 * 3", "7"},
		{"(1 + 2) * 3", "9"},
		{"7 - 2 - 1", "4"},
		{"-7 / 2", "-3"},
		{"-7 % 3", "-1"},
		{"7.0 / 2", "3.5"},
		{"1 / 0", "(none)"},
		{"1 % 0", "(none)"},
		{"1.0 / 0", "(none)"},
		{"1e308 * 10", "(none)"},
		{"0xff & ~0xf", "240"},
		{"6 ^ 3", "5"},
		{"6 | 1 ^ 3 & 2", "7"},
		{"1 << 4 + 1", "32"},
		{"1 << 63", "9223372036854775808"},
		{"1 << 64", "(none)"},
		{"1 << -1", "(none)"},
		{"2 << 63", "(none)"},
		{"-5 >> 1", "-3"},
		{"18446744073709551615", "18446744073709551615"},
		{"0xffffffffffffffff + 1", "(none)"},
		{"0xffffffffffffffff * 0xffffffffffffffff", "(none)"},
		{"-0x8000000000000000", "-9223372036854775808"},
		{"-0x8000000000000001", "(none)"},
		{"0b101", "5"},
		{"4K", "4096"},
		{"1.5M", "1572864"},
		{"2G + 1T", "1101659111424"},
		{"1ms + 1us + 1ns", "1001001"},
		{"2s", "2000000000"},
		{"1.5", "1.5"},
		{"25e-1", "2.5"},
		{"true ? 1 : 2.5", "1"},
		{"- - -1", "-1"},
		{"~~5", "5"},
	};

	(void)data;
	check_cases(self, cases, G_N_ELEMENTS(cases), 0);
}

static void test_conditions(Fixture *self, const void *data)
{
	static const Case cases[] = {
		{"1 < 2 && 2 < 1 || true", "yes"},
		{"true || true && false", "yes"},
		{"!true || !false", "yes"},
		{"1 & 1 == 1", "yes"}, /* bits before comparisons */
		{"3 == 3.0", "yes"},
		{"true != false", "yes"},
		{"\"abc\" < 'abd'", "yes"},
		{"5 in (1, 2..4)", "no"},
		{"5 in (1, 2..4, 5..5)", "yes"},
		{"5 in 5..9", "yes"},
		{"9 in 5..9", "yes"},
		{"10 in 5..9", "no"},
		{"2 in (1.5 .. 2.5)", "yes"},
		{"2 in 1.5..2.5", "yes"},
		{"'m' in ('a'..'f', 'm')", "yes"},
		{"true in (false)", "no"},
		{"1 in (1 / 0, 1)", "yes"},
		{"1 / 0 == 1 / 0", "no"},
		{"1 / 0 != 1", "no"},
		{"!(1 / 0 == 1)", "yes"},
		{"has(1 / 0)", "no"},
		{"has(none)", "no"},
		{"has(0)", "yes"},
		{"(false ? true : none) && true", "no"},
		{"true ? false ? 1 : 2 : 3", "2"},
		{"false ? 1 : false ? 2 : 3", "3"},
		{"true ? none : 3", "(none)"},
	};

	(void)data;
	check_cases(self, cases, G_N_ELEMENTS(cases), 0);
}

static void test_text(Fixture *self, const void *data)
{
	static const Case cases[] = {
		{"'abc' =~ 'b'", "yes"},
		{"'abc' !~ '^b'", "yes"},
		{"'a.c' =~ 'a\\.c'", "yes"},
		{"'abc' =~ 'a\\.c'", "no"},
		{"'a\\\\c' =~ '^a\\\\\\\\c$'", "yes"},
		{"'ÄB' =~ '(?i)äb'", "yes"},
		{"'日本' =~ '^..$'", "yes"},
		{"'say \"x\"'", "say \"x\""},
		{"\"say \\\"x\\\"\"", "say \"x\""},
		{"basename('/usr/lib/libc.so.6')", "libc.so.6"},
		{"basename('plain')", "plain"},
		{"basename('dir/')", ""},
	};

	(void)data;
	check_cases(self, cases, G_N_ELEMENTS(cases), 0);
}

/* Every attribute, on a sample with an address and on one without. */
static void test_attributes(Fixture *self, const void *data)
{
	static const struct {
		const char *name, *with, *without;
	} cases[] = {
		{"access", "store", "(none)"},
		{"address", "0x1000096c", "(none)"},
		{"allocation", "malloc@sample.c:20", "(none)"},
		{"allocation_address", "0x10000000", "(none)"},
		{"allocation_offset", "2412", "(none)"},
		{"allocation_size", "65536", "(none)"},
		{"allocation_stack", "build_list < main", "(none)"},
		{"cacheline", "0x10000940", "(none)"},
		{"command", "worker", "sample"},
		{"cpu", "2", "(none)"},
		{"event", "cpu-clock", "cpu-clock"},
		{"file", "/src/sample.c", "/src/sample.c"},
		{"function", "walk", "fill"},
		{"image", "/bin/sample", "/bin/sample"},
		{"is_load", "no", "no"},
		{"is_store", "yes", "no"},
		{"is_unverified", "no", "no"},
		{"latency", "120", "(none)"},
		{"layer", "type", "(none)"},
		{"level", "(none)", "(none)"},
		{"line", "21", "10"},
		{"locked", "(none)", "(none)"},
		{"mapping", "[heap]", "(none)"},
		{"mapping_offset", "0x96c", "(none)"},
		{"member", "key", "(none)"},
		{"node", "1", "0"},
		{"object", "struct node.key", "(none)"},
		{"offset", "8", "(none)"},
		{"opcode", "(none)", "(none)"},
		{"operand", "0", "0"},
		{"page", "0x10000000", "(none)"},
		{"page_node", "(none)", "(none)"},
		{"page_size", "(none)", "(none)"},
		{"pc", "0x401104", "0x401000"},
		{"pid", "100", "100"},
		{"place", "/src/sample.c:21", "/src/sample.c:10"},
		{"reason", "(none)", "tls"},
		{"rule", "at-pc", "(none)"},
		{"sampled_pc", "0x401104", "0x401000"},
		{"size", "8", "(none)"},
		{"snoop", "(none)", "(none)"},
		{"thread", "2", "0"},
		{"thread_label", "2", "0"},
		{"tid", "102", "100"},
		{"time", "0", "1000000"},
		{"tlb", "(none)", "(none)"},
		{"type", "struct node", "(none)"},
		{"variable", "(none)", "(none)"},
		{"weight", "2.5", "1"},
	};
	size_t n;
	const LodeSampleAttribute *table = lode_sample_attribute_table(&n);

	(void)data;
	g_assert_cmpuint(n, ==, G_N_ELEMENTS(cases));
	for (size_t i = 0; i < n; i++) {
		g_assert_cmpstr(table[i].name, ==, cases[i].name);
		g_autofree char *with = value_of(self, cases[i].name, 0);
		g_autofree char *without = value_of(self, cases[i].name, 1);
		g_assert_cmpstr(with, ==, cases[i].with);
		g_assert_cmpstr(without, ==, cases[i].without);
		g_assert_true(table[i].grouped_as == NULL ||
			      lode_sample_attribute_find(table[i].grouped_as) >= 0);
	}
}

/* What sample 0 lacks. */
static void test_rare_attributes(Fixture *self, const void *data)
{
	LodeProfile *profile = self->profile;
	uint32_t op = lode_profile_attribute(profile, "op:rep_movsb");
	LodeInstruction *instruction = lode_profile_instruction(profile, 2);
	LodeThread thread = {.pid = 200, .tid = 201, .ordinal = 1};
	uint32_t number = profile->memory->samples->len;
	LodeMemorySample *sample = sample_profile_access(
		profile, 3, SAMPLE_BUFFER + 7, LODE_ACCESS_LOAD | LODE_ACCESS_STORE, 2);
	static const Case cases[] = {
		{"access", "load+store"},
		{"allocation", "malloc@sample.c:12"},
		{"allocation_stack", "fill < main"},
		{"level", "L3"},
		{"level in ('L2', 'L3')", "yes"},
		{"opcode", "rep_movsb"},
		{"thread_label", "200.1"},
		{"command", "(none)"},
		{"snoop", "hit modified"},
		{"tlb", "L2"},
		{"locked", "yes"},
		{"page_node", "3"},
		{"page_size", "2097152"},
		{"is_load && is_store", "yes"},
	};

	(void)data;
	instruction->attribute_set = lode_profile_attribute_set(profile, &op, 1);
	g_array_append_val(profile->memory->threads, thread);
	/* L3 hit, another cache had it modified, locked, translated by the second-level TLB */
	sample->data_source = UINT64_C(3) << 33 | UINT64_C(0x10) << 19 | UINT64_C(2) << 24 |
	                      UINT64_C(0x12) << 26;
	/* The last look before the access has other pages only, the one after it has this. */
	const uint64_t page = SAMPLE_BUFFER & ~UINT64_C(4095);
	const LodeMemoryPages pages[] = {
		{200, 1, page, page + 4096, 4096, 0},
		{200, 2, page - 4096, page, 4096, 1},
		{200, 2, page + 4096, page + 8192, 4096, 1},
		{200, 3, page - 4096, page + 8192, 2 << 20, UINT64_MAX},
		{201, 4, page, page + 4096, 4096, 1},
	};
	g_array_append_vals(profile->memory->pages, pages, G_N_ELEMENTS(pages));
	lode_sample_attributes_free(self->attributes);
	self->attributes = lode_sample_attributes_new(profile, NULL);
	check_cases(self, cases, G_N_ELEMENTS(cases), number);
}

static void test_addresses(Fixture *self, const void *data)
{
	static const Case cases[] = {
		{"address >> 12", "0x10000"},
		{"address & ~0xfff", "0x10000000"},
		{"address + 1", "0x1000096d"},
		{"address - page", "2412"},
		{"address % 64", "44"},
		{"has(type) ? page : address", "0x10000000"},
		{"has(type) ? page : none", "0x10000000"},
	};

	(void)data;
	check_cases(self, cases, G_N_ELEMENTS(cases), 0);
}

static void test_definitions(Fixture *self, const void *data)
{
	static const Case cases[] = {
		{"region", "0x100"},
		{"region * 2", "512"},
		{"is_hot && region == 0x100", "yes"},
		{"!is_hot", "no"},
		{"is_walk", "yes"},
	};
	static const char *const definitions[] = {"region=address >> 20",
		"is_hot=latency > 100 || false", "is_walk=function =~ '^w'", NULL};
	g_autoptr(GError) error = NULL;

	(void)data;
	lode_expression_scope_define_all(self->scope, definitions, &error);
	g_assert_no_error(error);
	check_cases(self, cases, G_N_ELEMENTS(cases), 0);
	/* An expression outlives its scope. */
	g_autoptr(LodeExpression)
		expression = lode_expression_new("is_walk ? 'walk' : 'no'", self->scope, &error);
	lode_expression_scope_free(self->scope);
	self->scope = lode_expression_scope_new(&lode_sample_attribute_source);
	g_autoptr(LodeEvaluator) evaluator = lode_evaluator_new(expression, self->attributes);
	LodeValue value;
	g_assert_true(lode_evaluator_run(evaluator,
		&LODE_AT(self->profile->memory->samples, LodeMemorySample, 0), &value, &error));
	g_assert_cmpstr(value.text, ==, "walk");
}

static void test_definition_errors(Fixture *self, const void *data)
{
	static const Case cases[] = {
		{"x", "a definition is NAME=EXPRESSION, the name of letters, digits and _"},
		{"=1", "a definition is NAME=EXPRESSION, the name of letters, digits and _"},
		{"9x=1", "a definition is NAME=EXPRESSION, the name of letters, digits and _"},
		{"a b=1", "a definition is NAME=EXPRESSION, the name of letters, digits and _"},
		{"page=1", "'page' is an attribute of samples"},
		{"in=1", "'in' is a word of the language"},
		{"known=1", "'known' is defined already"},
		{"x=1 +", "x: column 4: a value is missing at the end\n  1 +\n     ^"},
		{"x=knwon", "x: column 1: unknown attribute 'knwon'; did you mean 'known'?\n"
			    "  knwon\n  ^"},
	};

	(void)data;
	g_assert_true(lode_expression_scope_define(self->scope, "known=1", NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_false(lode_expression_scope_define(self->scope, cases[i].text, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
		g_assert_cmpstr(error->message, ==, cases[i].value);
	}
}

static void check_error(Fixture *self, const char *text, const char *message)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeExpression) expression = lode_expression_new(text, self->scope, &error);

	g_assert_null(expression);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_assert_cmpstr(error->message, ==, message);
}

static void test_errors(Fixture *self, const void *data)
{
	static const Case cases[] = {
		{"", "column 1: a value is missing at the end\n  \n  ^"},
		{"funktion == 'x'", "column 1: unknown attribute 'funktion'; did you mean "
				    "'function'?\n  funktion == 'x'\n  ^"},
		{"qqqqqq", "column 1: unknown attribute 'qqqqqq'\n  qqqqqq\n  ^"},
		{"thread = 3", "column 8: '=' is not an operator; equality is '=='\n"
			       "  thread = 3\n         ^"},
		{"function == 3", "column 10: '==' compares text with a number\n"
				  "  function == 3\n           ^"},
		{"size + type > 3", "column 8: '+' takes numbers, and this is text\n"
				    "  size + type > 3\n         ^"},
		{"weight << 1", "column 1: '<<' takes whole numbers, and this is a fraction\n"
				"  weight << 1\n  ^"},
		{"size && is_load", "column 1: '&&' takes conditions, and this is a number; "
				    "compare it, or ask has(...)\n  size && is_load\n  ^"},
		{"size == none", "column 6: nothing compares with none; has(...) asks whether "
				 "there is a value\n  size == none\n       ^"},
		{"1 < 2 < 3", "column 7: comparisons do not chain; join two with '&&', or use "
			      "'in LEAST..MOST'\n  1 < 2 < 3\n        ^"},
		{"is_load < is_store", "column 9: '<' takes numbers or text, not conditions\n"
				       "  is_load < is_store\n          ^"},
		{"(1 + 2", "column 7: ')' is missing here\n  (1 + 2\n        ^"},
		{"1 + 2)", "column 6: no '(' belongs to this ')'\n  1 + 2)\n       ^"},
		{"1 2", "column 3: an operator is missing here\n  1 2\n    ^"},
		{"line, size", "column 5: ',' is not an operator: conditions are joined by '&&', "
			       "and a second level of groups is --by2\n  line, size\n      ^"},
		{"1 + * 2", "column 5: a value is missing before '*'\n  1 + * 2\n      ^"},
		{"size in ()", "column 10: a value is missing before ')'\n  size in ()\n"
			       "           ^"},
		{"size in (1, 'x')", "column 13: 'in' compares a number with text\n"
				     "  size in (1, 'x')\n              ^"},
		{"is_load in false..true", "column 17: '..' takes numbers or text, not "
					   "conditions\n  is_load in false..true\n"
					   "                  ^"},
		{"in 3", "column 1: 'in' needs a value on its left\n  in 3\n  ^"},
		{"true ? 1 : 'x'", "column 6: '?' chooses between a number and text, which do "
				   "not go together\n  true ? 1 : 'x'\n       ^"},
		{"true ? 1", "column 9: ':' is missing here\n  true ? 1\n          ^"},
		{"type =~ object", "column 9: a pattern is text in quotes, such as \"^parse\"\n"
				   "  type =~ object\n          ^"},
		{"line =~ 'a.c:14'",
			"column 1: '=~' takes text, and this is a number; 'place' is text\n"
			"  line =~ 'a.c:14'\n  ^"},
		{"size =~ 'x'", "column 1: '=~' takes text, and this is a number\n"
				"  size =~ 'x'\n  ^"},
		{"type == 'x", "column 9: no ' ends the text that begins here\n  type == 'x\n"
			       "          ^"},
		{"4Q", "column 2: a number may end with K, M, G, T, ns, us, ms or s\n  4Q\n   ^"},
		{"0x", "column 1: neither a number of 64 bits nor a fraction\n  0x\n  ^"},
		{"18446744073709551616", "column 1: neither a number of 64 bits nor a "
					 "fraction\n  18446744073709551616\n  ^"},
		{"16777216T", "column 1: neither a number of 64 bits nor a fraction\n"
			      "  16777216T\n  ^"},
		{"1e999", "column 1: neither a number of 64 bits nor a fraction\n  1e999\n  ^"},
		{"size # 3", "column 6: nothing in an expression begins like this\n  size # 3\n"
			     "       ^"},
		/* Columns count characters, the caret stands below wide ones. */
		{"type == 'äöü' + 1", "column 9: '+' takes numbers, and this is text\n"
				      "  type == 'äöü' + 1\n          ^"},
		{"'äöü' == 3", "column 7: '==' compares text with a number\n  'äöü' == 3\n"
			       "        ^"},
		{"'日本' == 3", "column 6: '==' compares text with a number\n  '日本' == 3\n"
				"         ^"},
		{"'e\u0301' == 3", "column 6: '==' compares text with a number\n"
				   "  'e\u0301' == 3\n      ^"},
		{"ä", "column 1: nothing in an expression begins like this\n  ä\n  ^"},
		/* What would move the caret or the terminal is not repeated. */
		{"'\x1b[31m' ==\n3", "column 9: '==' compares text with a number\n"
				     "  '?[31m' == 3\n          ^"},
		{"'\u202e' ==\t3", "column 5: '==' compares text with a number\n"
				   "  '?' == 3\n      ^"},
		{"'\xff'", "column 2: the bytes here are not UTF-8\n  '\n   ^"},
	};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		check_error(self, cases[i].text, cases[i].value);
}

static void test_long_error(Fixture *self, const void *data)
{
	g_autoptr(GString) text = g_string_new(NULL);

	(void)data;
	for (int i = 0; i < 100; i++)
		g_string_append(text, "1 + ");
	g_string_append(text, "'x'");
	for (int i = 0; i < 100; i++)
		g_string_append(text, " + 1");
	check_error(self, text->str,
		"column 401: '+' takes numbers, and this is text\n"
		"  ...+ 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 'x' + 1 + 1 + 1 + 1 + 1 "
		"+ 1 + ...\n"
		"                                                       ^");
}

static void check_pattern_error(Fixture *self, const char *text)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_expression_new(text, self->scope, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_assert_true(g_str_has_prefix(error->message, "column 9: not a pattern: at char "));
}

static void test_bad_patterns(Fixture *self, const void *data)
{
	(void)data;
	check_pattern_error(self, "type =~ '('");
	check_pattern_error(self, "type =~ '[z-a]'");
	check_pattern_error(self, "type =~ '((a{1,999}){1,999}){1,999}'");
}

/* Patterns that would take 2^40 steps, or hours, stop with an error. */
static void test_catastrophic_pattern(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeExpression) expression = lode_expression_new(
		"'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' =~ '^(a+)+$'", self->scope, &error);
	g_autoptr(LodeEvaluator) evaluator = lode_evaluator_new(expression, self->attributes);
	LodeValue value;

	(void)data;
	g_assert_false(lode_evaluator_run(evaluator,
		&LODE_AT(self->profile->memory->samples, LodeMemorySample, 0), &value, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
	g_assert_true(g_str_has_prefix(error->message, "a pattern needs too many steps for 'aaaa"));
}

static char *repeated(const char *head, const char *part, int n, const char *tail)
{
	GString *text = g_string_new(head);

	for (int i = 0; i < n; i++)
		g_string_append(text, part);
	return g_string_free(g_string_append(text, tail), FALSE);
}

static bool is_accepted(Fixture *self, const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeExpression) expression = lode_expression_new(text, self->scope, &error);

	g_assert_true((expression == NULL) == (error != NULL));
	return expression != NULL;
}

static void test_extremes(Fixture *self, const void *data)
{
	static const struct {
		const char *head, *part, *tail;
		int n;
		bool is_accepted;
	} cases[] = {
		{"", "(", "1", 30000, false},
		{"", "- ", "1", 30000, false},
		{"", "-", "1", 150, true},
		{"", "!", "true", 60000, false},
		{"", "true ? ", "1", 9000, false},
		{"", "true ? 1 : ", "2", 90, true},
		{"", "true ? 1 : ", "2", 5000, false},
		{"1", " + 1", "", 900, true},
		{"1", " + 1", "", 16000, false}, /* deeper than the tree may be */
		{"1 in (0", ", 1", ")", 20000, true},
		{"1", " ", "", 60000, true},
		{"1", " ", "", 70000, false},
		{"'", "x", "'", 65000, true},
		{"'x' =~ '", "x", "'", 4000, true},
		{"'x' =~ '", "x", "'", 5000, false},
		{"", "9", "", 5000, false},
		{"", "a", "", 60000, false},
	};

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = repeated(
			cases[i].head, cases[i].part, cases[i].n, cases[i].tail);
		if (is_accepted(self, text) != cases[i].is_accepted)
			g_error("case %zu is %s", i, cases[i].is_accepted ? "refused" : "accepted");
	}
}

/* Each definition doubles the last one: what would be 2^60 nodes is refused. */
static void test_doubling_definitions(Fixture *self, const void *data)
{
	bool is_good = lode_expression_scope_define(self->scope, "d0=1", NULL);
	int i = 0;

	(void)data;
	while (is_good && i < 60) {
		g_autofree char *text = g_strdup_printf("d%d=d%d + d%d", i + 1, i, i);
		is_good = lode_expression_scope_define(self->scope, text, NULL);
		i++;
	}
	g_assert_cmpint(i, >, 10);
	g_assert_cmpint(i, <, 20);
}

/* Each attribute and sign stands in the documentation, in a code span. */
static void check_documented(const char *page, const char *word)
{
	g_autofree char *span = g_strdup_printf("`%s`", word);
	g_autofree char *escaped = g_strdup_printf("`%s`", word[0] == '|' ? "\\|\\|" : word);

	if (strstr(page, span) == NULL && strstr(page, escaped) == NULL)
		g_error("docs/reference/expressions.md does not have %s", span);
}

static void test_documented(Fixture *self, const void *data)
{
	g_autofree char *path = g_build_filename(
		g_getenv("LODE_SOURCE_ROOT"), "docs", "reference", "expressions.md", NULL);
	g_autofree char *page = NULL;
	size_t n;
	const LodeSampleAttribute *table = lode_sample_attribute_table(&n);

	(void)self;
	(void)data;
	g_assert_true(g_file_get_contents(path, &page, NULL, NULL));
	for (size_t i = 0; i < n; i++)
		check_documented(page, table[i].name);
	for (int i = LODE_TOKEN_OR; i < LODE_N_TOKENS; i++)
		if (i != LODE_TOKEN_BIT_OR)
			check_documented(page, lode_expression_token_text((LodeTokenKind)i));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(Fixture *, const void *);
	} tests[] = {
		{"/expression/numbers", test_numbers},
		{"/expression/conditions", test_conditions},
		{"/expression/text", test_text},
		{"/expression/attributes", test_attributes},
		{"/expression/rare_attributes", test_rare_attributes},
		{"/expression/addresses", test_addresses},
		{"/expression/documented", test_documented},
		{"/expression/definitions", test_definitions},
		{"/expression/definition_errors", test_definition_errors},
		{"/expression/errors", test_errors},
		{"/expression/long_error", test_long_error},
		{"/expression/bad_patterns", test_bad_patterns},
		{"/expression/catastrophic_pattern", test_catastrophic_pattern},
		{"/expression/extremes", test_extremes},
		{"/expression/doubling_definitions", test_doubling_definitions},
	};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
		g_test_add(tests[i].name, Fixture, NULL, set_up, tests[i].run, tear_down);
	return g_test_run();
}
