/* SPDX-License-Identifier: MIT */
/* Parameters: the same values and the same faults, from a command line and from an address. */
#include "base/error.h"
#include "base/parameter.h"

#include <string.h>

typedef enum { COLOUR_RED, COLOUR_GREEN, COLOUR_BLUE } Colour;

typedef struct {
	uint64_t big;
	uint32_t small;
	bool has_small, has_share, is_flag;
	const char *text;
	const char *const *list;
	double share, percent, number;
	uint64_t size, address;
	unsigned ms;
	uint32_t range[2];
	Colour colour;
} Part;

typedef struct {
	int before;
	Part part;
	const char *screen, *word;
} Whole;

static const LodeParameter rows[] = {
	{"big", LODE_COUNT(Part, big), .value = "N", .summary = "big"},
	{"small", 's', LODE_COUNT(Part, small), .given = offsetof(Part, has_small), .least = 1,
		.most = 10, .value = "N", .standard = "3", .summary = "small"},
	{"flag", LODE_FLAG(Part, is_flag), .excludes = "text", .summary = "flag"},
	{"text", LODE_TEXT(Part, text), .value = "TEXT", .summary = "text"},
	{"list", LODE_TEXTS(Part, list), .value = "TEXT", .needs = "text flag", .summary = "list"},
	{"share", LODE_SHARE(Part, share), .given = offsetof(Part, has_share), .value = "SHARE",
		.summary = "share"},
	{"percent", LODE_PERCENT(Part, percent), .given = offsetof(Part, has_share),
		.value = "PERCENT", .summary = "percent"},
	{"number", LODE_NUMBER(Part, number), .value = "N", .summary = "number"},
	{"size", LODE_SIZE(Part, size), .value = "SIZE", .summary = "size"},
	{"address", LODE_ADDRESS(Part, address), .value = "ADDRESS", .summary = "address"},
	{"time", LODE_SECONDS(Part, ms), .value = "SECONDS", .summary = "time"},
	{"range", LODE_RANGE(Part, range), .value = "N-M", .summary = "range"},
	{"colour", LODE_WORD(Part, colour), .value = "red|green|blue", .summary = "colour"},
	{NULL},
};

static const LodeParameter others[] = {
	{"screen", LODE_TEXT(Whole, screen), .value = "TEXT",
		.audience = LODE_PARAMETER_FOR_TERMINAL, .excludes = "*", .summary = "screen"},
	{"word", LODE_TEXT(Whole, word), .value = "TEXT", .audience = LODE_PARAMETER_FOR_WORDS,
		.summary = "word"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Part", rows, offsetof(Whole, part)},
	{"Others", others, 0},
	{NULL},
};

/* A run of lode; the struct's strings live as long as this. */
typedef struct {
	LodeParameterPairs pairs;
	GPtrArray *lists;
	Whole whole;
	char **rest;
	GError *error;
	bool is_right;
} Asked;

static void asked_clear(Asked *self)
{
	lode_parameter_pairs_clear(&self->pairs);
	g_clear_pointer(&self->lists, g_ptr_array_unref);
	g_strfreev(self->rest);
	g_clear_error(&self->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Asked, asked_clear)

/* "--big 3 word" */
static void ask_line(Asked *self, const char *line)
{
	g_auto(GStrv) words = *line != '\0' ? g_strsplit(line, " ", -1) : g_new0(char *, 1);
	const LodeParameterLine how = {.groups = groups};
	LodeHelp help;

	*self = (Asked){0};
	lode_parameter_pairs_init(&self->pairs);
	self->is_right = lode_parameter_line_split(
				 &how, words, &self->pairs, &help, &self->rest, &self->error) &&
	                 lode_parameters_fill(groups, &self->pairs, LODE_PARAMETER_FOR_TERMINAL,
				 &self->whole, &self->lists, &self->error);
}

/* "big=3&list=x" */
static void ask_address(Asked *self, const char *query)
{
	g_auto(GStrv) words = g_strsplit(query, "&", -1);

	*self = (Asked){0};
	lode_parameter_pairs_init(&self->pairs);
	for (size_t i = 0; words[i] != NULL; i++) {
		g_auto(GStrv) pair = g_strsplit(words[i], "=", 2);
		if (pair[0] != NULL && *pair[0] != '\0')
			lode_parameter_pairs_add(&self->pairs, pair[0], pair[1]);
	}
	self->is_right = lode_parameters_fill(groups, &self->pairs, LODE_PARAMETER_FOR_PAGE,
		&self->whole, &self->lists, &self->error);
}

static void assert_values(const Asked *self)
{
	const Part *part = &self->whole.part;

	g_assert_no_error(self->error);
	g_assert_true(self->is_right);
	g_assert_cmpuint(part->big, ==, 1ull << 40);
	g_assert_cmpuint(part->small, ==, 7);
	g_assert_true(part->has_small);
	g_assert_cmpstr(part->text, ==, "x");
	g_assert_cmpstr(part->list[0], ==, "a");
	g_assert_cmpstr(part->list[1], ==, "b");
	g_assert_null(part->list[2]);
	g_assert_cmpfloat(part->share, ==, 0.25);
	g_assert_cmpfloat(part->percent, ==, 1.5);
	g_assert_cmpfloat(part->number, ==, 2.5);
	g_assert_cmpuint(part->size, ==, 2048);
	g_assert_cmpuint(part->address, ==, 0x7f00);
	g_assert_cmpuint(part->ms, ==, 500);
	g_assert_cmpuint(part->range[0], ==, 2);
	g_assert_cmpuint(part->range[1], ==, 0);
	g_assert_cmpint(part->colour, ==, COLOUR_BLUE);
	g_assert_false(part->is_flag);
}

static void test_values(void)
{
	g_auto(Asked) line, address, none;

	ask_line(&line,
		"--big=1099511627776 -s 9 word --small 7 --text x --list a --list b "
		"--share 25% --percent 150 --number 2.5 --size 2K --address 0x7f00 --time .5 "
		"--range 2- --colour blue -- --flag");
	assert_values(&line);
	g_assert_cmpstr(line.rest[0], ==, "word");
	g_assert_cmpstr(line.rest[1], ==, "--flag");
	ask_address(&address,
		"big=1099511627776&small=9&small=7&text=x&list=a&list=&list=b&share=25%&percent=150"
		"&number=2.5&size=2K&address=0x7f00&time=.5&range=2-&colour=blue&flag=0&text=");
	/* A flag that is 0 is given all the same. */
	g_assert_false(address.is_right);
	g_auto(Asked) other;
	ask_address(&other,
		"big=1099511627776&small=9&small=7&text=x&list=a&list=&list=b&share=25%&percent=150"
		"&number=2.5&size=2K&address=0x7f00&time=.5&range=2-&colour=blue&flag=&text=");
	assert_values(&other);
	ask_line(&none, "");
	g_assert_true(none.is_right);
	g_assert_cmpuint(none.whole.part.small, ==, 3);
	g_assert_false(none.whole.part.has_small);
	g_assert_false(none.whole.part.has_share);
	g_assert_null(none.whole.part.list);
}

/* The message of a line, as it would be in an address. */
static char *without_dashes(const char *message)
{
	GString *text = g_string_new(message);

	g_string_replace(text, "--", "", 0);
	return g_string_free(text, FALSE);
}

/* What cannot be is refused both ways, in the same words. */
static void test_faults(void)
{
	static const struct {
		const char *name, *value, *message;
	} cases[] = {
		{"big", "x", "big: 'x' is not a whole number from 0 to 18446744073709551615"},
		{"big", "-1", NULL},
		{"big", "99999999999999999999", NULL},
		{"small", "0", "small: '0' is not a whole number from 1 to 10"},
		{"small", "11", NULL},
		{"small", "1.5", NULL},
		{"small", " 1", NULL},
		{"share", "101%", "share: '101%' is not a share between 0 and 1, or 0% and 100%"},
		{"share", "nan", NULL},
		{"share", "1.1", NULL},
		{"share", "2%%", NULL},
		{"percent", "x", "percent: 'x' is not a number of percent"},
		{"number", "-1", "number: '-1' is not a number of 0 or more"},
		{"number", "1e999", NULL},
		{"size", "0", "size: '0' is not a size such as 4G or 512M"},
		{"size", "4X", NULL},
		{"address", "7f00", "address: '7f00' is not an address such as 0x7f00"},
		{"time", "0", "time: '0' is not a number of seconds from 0.001 to 1000000"},
		{"range", "0-1", "range: '0-1' is not a range such as 3, 2-4, 2- or -4"},
		{"range", "-", NULL},
		{"colour", "pink", "colour: 'pink' is not red, green or blue"},
		{"color", "red", "unknown option 'color'; did you mean 'colour'?"},
		{"list", "x", "list needs text or flag"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *option = g_strconcat("--", cases[i].name, "=", NULL);
		g_autofree char *query = g_strconcat(cases[i].name, "=", cases[i].value, NULL);
		char *words[] = {option, NULL};
		g_autofree char *whole = g_strconcat(option, cases[i].value, NULL);
		g_auto(Asked) line = {0}, address;
		const LodeParameterLine how = {.groups = groups};
		LodeHelp help;

		words[0] = whole;
		lode_parameter_pairs_init(&line.pairs);
		g_assert_false(
			lode_parameter_line_split(
				&how, words, &line.pairs, &help, &line.rest, &line.error) &&
			lode_parameters_fill(groups, &line.pairs, LODE_PARAMETER_FOR_TERMINAL,
				&line.whole, &line.lists, &line.error));
		ask_address(&address, query);
		g_assert_false(address.is_right);
		g_assert_error(line.error, LODE_ERROR, LODE_ERROR_USAGE);
		g_assert_error(address.error, LODE_ERROR, LODE_ERROR_USAGE);
		g_autofree char *same = without_dashes(line.error->message);
		g_assert_cmpstr(same, ==, address.error->message);
		if (cases[i].message != NULL)
			g_assert_cmpstr(address.error->message, ==, cases[i].message);
	}
}

static void test_together(void)
{
	g_auto(Asked) both, alone, empty, foreign, shared;

	ask_line(&both, "--flag --text x");
	g_assert_cmpstr(both.error->message, ==, "--flag cannot be used with --text");
	ask_line(&alone, "--screen x --big 1");
	g_assert_cmpstr(alone.error->message, ==, "--screen cannot be used with --big");
	ask_line(&empty, "--text=");
	g_assert_cmpstr(empty.error->message, ==, "--text: the value is empty");
	ask_address(&foreign, "screen=x");
	g_assert_cmpstr(foreign.error->message, ==, "unknown option 'screen'");
	/* What has no name there can be given with an option that excludes all others. */
	g_auto(LodeParameterPairs) pairs;
	g_autoptr(GPtrArray) lists = NULL;
	g_autoptr(GError) error = NULL;
	Whole whole = {0};
	lode_parameter_pairs_init(&pairs);
	lode_parameter_pairs_add(&pairs, "screen", "x");
	lode_parameter_pairs_add(&pairs, "word", "y");
	lode_parameters_fill(groups, &pairs, LODE_PARAMETER_FOR_TERMINAL, &whole, &lists, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(whole.word, ==, "y");
	/* One flag of two rows. */
	ask_line(&shared, "--share 1");
	g_assert_true(shared.whole.part.has_share);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/parameter/values", test_values);
	g_test_add_func("/parameter/faults", test_faults);
	g_test_add_func("/parameter/together", test_together);
	return g_test_run();
}
