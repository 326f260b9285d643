/* SPDX-License-Identifier: MIT */
#include "views/calls/function_calls.h"

#include "base/error.h"
#include "base/text/number_format.h"
#include "base/text/suggestion.h"
#include "model/profile.h"
#include "views/calls/call_lines.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/name_test.h"
#include "views/profile/profile_json.h"

#include <math.h>
#include <string.h>

/* In an error message. */
enum { MAX_LISTED = 10, NAME_WIDTH = 60 };

typedef struct {
	const LodeProfile *profile;
	const LodeFunctionCallsOptions *options;
	LodeFunctionCosts *costs;
	bool *is_marked;
	uint32_t function; /* of those marked the costliest version, else one of the profile if any
	                      is */
	guint n_versions;  /* of code made while the program ran; else 1 */
	LodeNeighbours found;
	GArray *lines; /* LodeOwnCaller */
	double total;
	FILE *out;
} Calls;

/* --- which function --- */

/* Besides a LodeNameTest. */
enum { BY_NUMBER = LODE_N_NAME_TESTS, BY_ADDRESS };

static const LodeFunction *profile_function(const Calls *self, uint32_t function)
{
	return function < self->profile->code.functions->len
	               ? lode_profile_function(self->profile, function)
	               : NULL;
}

static bool is_meant(const Calls *self, uint32_t function, int test)
{
	const LodeFunction *row = profile_function(self, function);
	const char *name = lode_function_cost_at(self->costs, function)->name;
	const char *symbol = row != NULL ? row->symbol : NULL;
	const char *text = self->options->name;

	/* "memcmp" is not the stub memcmp@plt where a part of a name is what is meant. */
	if (lode_function_cost_at(self->costs, function)->is_stub && test > LODE_NAME_WHOLE &&
		test < LODE_NAME_PART)
		return false;
	if (test < LODE_N_NAME_TESTS)
		return lode_name_passes((LodeNameTest)test, name, symbol, text);
	if (row == NULL)
		return false;
	guint64 number;
	if (test == BY_NUMBER)
		return g_ascii_string_to_unsigned(text, 10, 0, UINT32_MAX, &number, NULL) &&
		       number == function;
	uint64_t address;
	g_autofree char *before = lode_name_at_address(text, &address);
	return before != NULL && row->address == address &&
	       lode_name_passes(LODE_NAME_WHOLE, name, symbol, before);
}

static bool has_cost(const LodeFunctionCost *function)
{
	return function->self > 0 || function->inclusive > 0;
}

/* Functions without any cost are only meant where no other one is. */
static GArray *functions_with(const Calls *self, int test, bool needs_cost)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < self->costs->functions->len; i++)
		if ((!needs_cost || has_cost(lode_function_cost_at(self->costs, i))) &&
			is_meant(self, i, test))
			g_array_append_val(found, i);
	return found;
}

/* Whether they are what a compiler made of one function while the program ran. */
static bool are_versions(const Calls *self, const GArray *found)
{
	const LodeFunctionCost *first = NULL;
	bool is_jit = false; /* not known of one that is only on stacks */

	for (guint i = 0; i < found->len; i++) {
		uint32_t function = g_array_index(found, uint32_t, i);
		const LodeFunction *row = profile_function(self, function);
		const LodeFunctionCost *one = lode_function_cost_at(self->costs, function);
		first = first != NULL ? first : one;
		if (strcmp(one->image, first->image) != 0 ||
			!lode_function_name_is_version(one->name, first->name))
			return false;
		is_jit |= row != NULL &&
		          lode_profile_image(self->profile, row->image)->kind == LODE_IMAGE_JIT;
	}
	return is_jit;
}

/* What is inlined in several places is one function, and the same one as out of line. */
static bool is_one(const Calls *self, const GArray *found)
{
	const char *name = NULL;
	unsigned n_whole = 0;

	for (guint i = 0; i < found->len; i++) {
		const LodeFunctionCost *one = lode_function_cost_at(
			self->costs, g_array_index(found, uint32_t, i));
		n_whole += !one->is_inlined;
		if (name != NULL && strcmp(name, one->name) != 0)
			return false;
		name = one->name;
	}
	return n_whole <= 1;
}

static void refuse_several(const Calls *self, const GArray *found, GError **error)
{
	g_autoptr(GString) list = g_string_new(NULL);

	for (guint i = 0; i < found->len && i < MAX_LISTED; i++) {
		uint32_t function = g_array_index(found, uint32_t, i);
		const LodeFunctionCost *one = lode_function_cost_at(self->costs, function);
		g_autofree char *brief = lode_function_name_short(one->name);
		g_autofree char *image = g_path_get_basename(one->image);
		g_autoptr(GString) name = g_string_new(brief);
		lode_display_shorten_middle(name, NAME_WIDTH, false);
		g_string_append_printf(list, "%s'%s' in %s", i > 0 ? ", " : "", name->str, image);
		if (profile_function(self, function) != NULL)
			g_string_append_printf(list, " (%u)", function);
	}
	if (found->len > MAX_LISTED)
		g_string_append_printf(list, " and %u more", found->len - MAX_LISTED);
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"'%s' may mean %u functions; type the name or the number of one of: %s",
		self->options->name, found->len, list->str);
}

static void refuse_unknown(const Calls *self, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (uint32_t i = 0; i < self->costs->functions->len; i++)
		g_ptr_array_add(names, (char *)lode_function_cost_at(self->costs, i)->name);
	g_ptr_array_add(names, NULL);
	const char *nearest = lode_suggestion(
		self->options->name, (const char *const *)names->pdata);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"no function '%s' in the profile%s%s%s", self->options->name,
		nearest != NULL ? "; did you mean '" : ": 'lode report FILE --functions'",
		nearest != NULL ? nearest : "", nearest != NULL ? "'?" : " lists them");
}

/* The function itself is meant, not the stub by which another image calls it. */
static void leave_stubs(const Calls *self, GArray *found)
{
	guint n_stubs = 0;

	for (guint i = 0; i < found->len; i++)
		n_stubs += lode_function_cost_at(self->costs, g_array_index(found, uint32_t, i))
		                   ->is_stub;
	for (guint i = found->len; n_stubs < found->len && i-- > 0;)
		if (lode_function_cost_at(self->costs, g_array_index(found, uint32_t, i))->is_stub)
			g_array_remove_index(found, i);
}

/* By the strictest test that some function passes. */
static bool find_function(Calls *self, GError **error)
{
	static const int tests[] = {LODE_NAME_WHOLE, BY_NUMBER, BY_ADDRESS, LODE_NAME_SHORT,
		LODE_NAME_LAST_WORD, LODE_NAME_WORD, LODE_NAME_PART, LODE_NAME_WORD_IN_ANY_CASE,
		LODE_NAME_PART_IN_ANY_CASE};
	g_autoptr(GArray) found = NULL;

	for (size_t i = 0; i < 2 * G_N_ELEMENTS(tests); i++) {
		g_clear_pointer(&found, g_array_unref);
		found = functions_with(self, tests[i / 2], i % 2 == 0);
		if (found->len > 0)
			break;
	}
	leave_stubs(self, found);
	if (found->len == 0 || (!is_one(self, found) && !are_versions(self, found))) {
		if (found->len == 0)
			refuse_unknown(self, error);
		else
			refuse_several(self, found, error);
		return false;
	}
	self->n_versions = is_one(self, found) ? 1 : found->len;
	self->function = g_array_index(found, uint32_t, 0);
	for (guint i = 0; i < found->len; i++) {
		uint32_t function = g_array_index(found, uint32_t, i);
		self->is_marked[function] = true;
		if (self->n_versions > 1 &&
			lode_function_cost_at(self->costs, function)->self >
				lode_function_cost_at(self->costs, self->function)->self)
			self->function = function;
	}
	return true;
}

/* --- for programs --- */

enum { FROM_COUNTS = 1, FROM_SAMPLES = 2 };

/* Callers or callees. */
typedef struct {
	LodeFunctionCost cost;
	const char *relation;
	double number; /* no number: it is not one of the profile's */
	double weight, samples, calls;
} Row;

static LodeStyle append_name(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const LodeFunctionCost *cost = &((const Row *)row)->cost;

	(void)user_data;
	lode_function_name_append(out, cost->name, terminal);
	g_string_append(out, cost->is_inlined ? " (inlined)" : "");
	return LODE_STYLE_STRONG;
}

#define FUNCTION_COLUMNS                                                                           \
	{"number", LODE_CELL_NUMBER(Row, number), .is_nullable = true},                            \
		{"name", LODE_CELL_NAME(Row, cost.name)},                                          \
	{                                                                                          \
		"image", LODE_CELL_TEXT(Row, cost.image), .is_nullable = true                      \
	}
static const LodeColumn function_columns[] = {FUNCTION_COLUMNS};
const LodeColumns lode_called_function_columns = LODE_COLUMNS("function", function_columns, Row);

static const LodeColumn columns[] = {
	{"relation", LODE_CELL_TEXT(Row, relation), .only = LODE_IN_CSV},
	FUNCTION_COLUMNS,
	{"weight", LODE_CELL_SHARE(Row, weight), .titled = 1, .at = 1},
	{"samples", LODE_CELL_NUMBER(Row, samples), .is_nullable = true},
	{"calls", LODE_CELL_NUMBER(Row, calls), .is_nullable = true},
	{NULL, LODE_CELL_COUNT(Row, calls), .title = "calls", .at = 2, .dropped = 1,
		.when = FROM_COUNTS},
	{NULL, LODE_CELL_COUNT(Row, samples), .title = "samples", .at = 2, .dropped = 1,
		.when = FROM_SAMPLES},
	{.title = "image", .append = lode_call_lines_image_cell, .at = 3, .dropped = 2},
	{.title = "function", .append = append_name, .at = 4},
};
const LodeColumns lode_function_callers_columns = LODE_COLUMNS("callers", columns, Row);
const LodeColumns lode_function_callees_columns = LODE_COLUMNS("callees", columns, Row);

static guint n_shown(const Calls *self, const GArray *shares)
{
	return self->options->limit != 0 ? MIN(self->options->limit, shares->len) : shares->len;
}

static void set_function(const Calls *self, uint32_t function, Row *row)
{
	row->cost = *lode_function_cost_at(self->costs, function);
	row->number = profile_function(self, function) != NULL ? function : (double)NAN;
}

static void fill_row(const Calls *self, const char *relation, const LodeCallShare *share, Row *row)
{
	set_function(self, share->function, row);
	row->relation = relation;
	row->weight = lode_call_lines_share_of(share->cost, self->total);
	row->samples = share->samples;
	row->calls = share->calls;
}

static void fill_caller(size_t i, void *row, const void *user_data)
{
	const Calls *self = user_data;

	fill_row(self, "caller", &g_array_index(self->found.callers, LodeCallShare, i), row);
}

static void fill_callee(size_t i, void *row, const void *user_data)
{
	const Calls *self = user_data;

	fill_row(self, "callee", &g_array_index(self->found.callees, LodeCallShare, i), row);
}

static LodeListing callers_of(const Calls *self)
{
	return (LodeListing){&lode_function_callers_columns, n_shown(self, self->found.callers),
		.fill = fill_caller, .user_data = self, .titles = {"Callers"},
		.what = self->costs->source == LODE_CALLS_FROM_COUNTS ? FROM_COUNTS : FROM_SAMPLES};
}

static LodeListing callees_of(const Calls *self)
{
	LodeListing listing = callers_of(self);

	listing.columns = &lode_function_callees_columns;
	listing.n_rows = n_shown(self, self->found.callees);
	listing.fill = fill_callee;
	listing.titles[0] = "Callees";
	return listing;
}

/* "list.c:31" */
static char *line_name(const LodeFrame *frame)
{
	g_autofree char *base = g_path_get_basename(frame->file);

	return g_strdup_printf("%s:%u", base, frame->line);
}

typedef struct {
	const char *file, *function;
	char *place;
	uint32_t line;
	double share, samples;
} LineRow;

static const LodeColumn line_columns[] = {
	{"file", LODE_CELL_TEXT(LineRow, file)},
	{"line", LODE_CELL_NUMBER(LineRow, line)},
	{"function", LODE_CELL_NAME(LineRow, function), .at = 4, .dropped = 2, .missing = "?"},
	{"weight", LODE_CELL_SHARE(LineRow, share), .title = "Own lines", .at = 1},
	{"samples", LODE_CELL_COUNT(LineRow, samples), .at = 2, .dropped = 1},
	{NULL, LODE_CELL_TEXT(LineRow, place), .title = "line", .at = 3,
		.style = LODE_STYLE_STRONG},
};
const LodeColumns lode_own_lines_columns = LODE_COLUMNS("own_lines", line_columns, LineRow);

static void fill_line(size_t i, void *row, const void *user_data)
{
	const Calls *self = user_data;
	const LodeOwnCaller *line = &g_array_index(self->lines, LodeOwnCaller, i);

	*(LineRow *)row = (LineRow){line->frame->file, line->frame->function,
		line_name(line->frame), line->frame->line,
		lode_call_lines_share_of(line->cost, self->total), line->samples};
}

static LodeListing lines_of(const Calls *self)
{
	return (LodeListing){&lode_own_lines_columns, n_shown(self, self->lines), .fill = fill_line,
		.user_data = self};
}

static void write_json(const Calls *self)
{
	const LodeListing callers = callers_of(self), callees = callees_of(self),
			  lines = lines_of(self);
	LodeJsonStream json;
	Row function = {0};

	set_function(self, self->function, &function);
	lode_profile_json_begin(&json, self->out, self->profile, NULL);
	lode_json_member_begin(&json, "function", '{');
	lode_columns_put_json(&lode_called_function_columns, &function, &json);
	lode_json_end(&json, '}');
	lode_json_member_string(&json, "from", lode_call_source_to_text(self->costs->source));
	lode_json_member_bool(
		&json, "stacks_are_short", lode_function_costs_are_short(self->costs));
	lode_json_member_number(
		&json, "weight", lode_call_lines_share_of(self->found.self, self->total));
	lode_json_member_number(
		&json, "inclusive", lode_call_lines_share_of(self->found.inclusive, self->total));
	lode_json_member_number(&json, "samples", self->found.samples);
	lode_listing_put_json(&callers, &json);
	lode_listing_put_json(&callees, &json);
	lode_listing_put_json(&lines, &json);
	lode_json_end(&json, '}');
}

static void write_csv(const Calls *self)
{
	const LodeListing callers = callers_of(self), callees = callees_of(self);

	lode_listing_put_csv_titles(&callers, self->out);
	if (self->options->has_callers)
		lode_listing_put_csv_rows(&callers, self->out);
	if (self->options->has_callees)
		lode_listing_put_csv_rows(&callees, self->out);
}

/* --- for people --- */

static void put_table(const Calls *self, const LodeListing *listing, guint n, const char *none)
{
	if (n == 0 && none == NULL)
		return;
	fputc('\n', self->out);
	if (n == 0)
		fprintf(self->out, "%s: none.\n", none);
	else
		lode_listing_write_text(listing, &self->options->terminal, self->out);
	if (listing->n_rows < n)
		fprintf(self->out, "and %zu more\n", n - listing->n_rows);
}

static void write_text(const Calls *self)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeFunctionCost *one = lode_function_cost_at(self->costs, self->function);
	g_autoptr(GString) name = g_string_new(NULL), image = g_string_new(NULL);

	lode_function_name_append(name, one->name, terminal);
	lode_call_lines_image(image, one, terminal);
	if (self->n_versions > 1)
		g_string_append_printf(name, " and %u other version%s", self->n_versions - 1,
			self->n_versions == 2 ? "" : "s");
	lode_display_print(terminal, self->out, "%s in %s: self %s, inclusive %s", name->str,
		image->str, LODE_SHARE_TEXT(lode_share_of(self->found.self, self->total)),
		isnan(self->found.inclusive)
			? "not known"
			: LODE_SHARE_TEXT(lode_share_of(self->found.inclusive, self->total)));
	if (self->profile->part != NULL)
		lode_display_print(terminal, self->out, "part: %s", self->profile->part);
	lode_call_lines_note(self->costs, terminal, self->out);
	const LodeListing callers = callers_of(self), callees = callees_of(self),
			  lines = lines_of(self);
	if (self->options->has_callers)
		put_table(self, &callers, self->found.callers->len, "Callers");
	if (self->options->has_callers)
		put_table(self, &lines, self->lines->len, NULL);
	if (self->options->has_callees)
		put_table(self, &callees, self->found.callees->len, "Callees");
}

static bool write_calls(Calls *self, GError **error)
{
	const char *advice = lode_call_lines_advice(self->costs);

	if (!find_function(self, error))
		return false;
	if (self->options->format == LODE_VIEW_TEXT && advice != NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, advice);
		return false;
	}
	lode_neighbours_init(&self->found, self->costs, self->is_marked, false);
	self->lines = lode_function_costs_own_callers(
		self->costs, self->is_marked, self->options->own);
	if (self->options->format == LODE_VIEW_TEXT)
		write_text(self);
	else if (self->options->format == LODE_VIEW_JSON)
		write_json(self);
	else
		write_csv(self);
	lode_neighbours_clear(&self->found);
	g_array_unref(self->lines);
	return lode_view_flush(self->out, error);
}

bool lode_function_calls_write(const LodeProfile *profile, uint32_t event,
	const LodeFunctionCallsOptions *options, FILE *out, GError **error)
{
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, event);
	g_autofree bool *is_marked = g_new0(bool, costs->functions->len + 1);
	Calls self = {.profile = profile,
		.options = options,
		.costs = costs,
		.is_marked = is_marked,
		.total = lode_profile_event_total(profile, event),
		.out = out};

	return write_calls(&self, error);
}
