/* SPDX-License-Identifier: MIT */
#include "views/calls/function_calls.h"

#include "base/error.h"
#include "base/text/number_format.h"
#include "base/text/suggestion.h"
#include "model/profile.h"
#include "views/calls/call_lines.h"
#include "views/code/function_name.h"
#include "views/code/name_test.h"
#include "views/form/display_text.h"
#include "views/form/row_stream.h"
#include "views/form/table.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

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
	return function < self->profile->functions->len
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
		nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
		nearest != NULL ? "'?" : "");
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

static double share_of(const Calls *self, double cost)
{
	return isnan(cost) ? cost : lode_share_of(cost, self->total);
}

static void put_function(const Calls *self, uint32_t function, LodeRowStream *rows)
{
	const LodeFunctionCost *one = lode_function_cost_at(self->costs, function);

	lode_row_number(
		rows, "number", profile_function(self, function) != NULL ? function : (double)NAN);
	lode_function_name_row(rows, "name", one->name);
	lode_row_text(rows, "image", one->image);
}

static void put_row(
	const Calls *self, const char *relation, const LodeCallShare *share, LodeRowStream *rows)
{
	lode_row_begin(rows);
	lode_row_csv_text(rows, "relation", relation);
	put_function(self, share->function, rows);
	lode_row_number(rows, "weight", share_of(self, share->cost));
	lode_row_number(rows, "samples", share->samples);
	lode_row_number(rows, "calls", share->calls);
	lode_row_end(rows);
}

static guint n_shown(const Calls *self, const GArray *shares)
{
	return self->options->limit != 0 ? MIN(self->options->limit, shares->len) : shares->len;
}

static void put_rows(
	const Calls *self, const char *relation, const GArray *shares, LodeRowStream *rows)
{
	for (guint i = 0; i < n_shown(self, shares); i++)
		put_row(self, relation, &g_array_index(shares, LodeCallShare, i), rows);
}

/* "list.c:31" */
static char *line_name(const LodeFrame *frame)
{
	g_autofree char *base = g_path_get_basename(frame->file);

	return g_strdup_printf("%s:%u", base, frame->line);
}

static void put_line(const Calls *self, const LodeOwnCaller *line, LodeJsonStream *json)
{
	lode_json_begin(json, '{');
	lode_json_member_string(json, "file", line->frame->file);
	lode_json_member_number(json, "line", line->frame->line);
	lode_function_name_json(json, "function", line->frame->function);
	lode_json_member_number(json, "weight", share_of(self, line->cost));
	lode_json_member_number(json, "samples", line->samples);
	lode_json_end(json, '}');
}

static void write_json(const Calls *self)
{
	LodeJsonStream json;
	LodeRowStream rows;

	lode_profile_json_begin(&json, self->out, self->profile, NULL);
	lode_row_stream_init_json(&rows, &json);
	lode_json_key(&json, "function");
	lode_json_begin(&json, '{');
	put_function(self, self->function, &rows);
	lode_json_end(&json, '}');
	lode_json_member_string(&json, "from", lode_call_source_to_text(self->costs->source));
	lode_json_member_bool(
		&json, "stacks_are_short", lode_function_costs_are_short(self->costs));
	lode_json_member_number(&json, "weight", share_of(self, self->found.self));
	lode_json_member_number(&json, "inclusive", share_of(self, self->found.inclusive));
	lode_json_member_number(&json, "samples", self->found.samples);
	lode_json_key(&json, "callers");
	lode_json_begin(&json, '[');
	put_rows(self, "caller", self->found.callers, &rows);
	lode_json_end(&json, ']');
	lode_json_key(&json, "callees");
	lode_json_begin(&json, '[');
	put_rows(self, "callee", self->found.callees, &rows);
	lode_json_end(&json, ']');
	lode_json_key(&json, "own_lines");
	lode_json_begin(&json, '[');
	for (guint i = 0; i < n_shown(self, self->lines); i++)
		put_line(self, &g_array_index(self->lines, LodeOwnCaller, i), &json);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

static void write_csv(const Calls *self)
{
	static const LodeCallShare none;
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, self->out);
	put_row(self, "", &none, &rows);
	if (self->options->has_callers)
		put_rows(self, "caller", self->found.callers, &rows);
	if (self->options->has_callees)
		put_rows(self, "callee", self->found.callees, &rows);
}

/* --- for people --- */

typedef struct {
	const Calls *calls;
	const GArray *shares;
} Body;

static LodeStyle cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Body *self = user_data;
	const LodeCallShare *share = &g_array_index(self->shares, LodeCallShare, row);
	const LodeFunctionCost *one = lode_function_cost_at(self->calls->costs, share->function);
	const LodeTerminal *terminal = &self->calls->options->terminal;

	switch (column) {
	case 0:
		lode_call_lines_share(out, share->cost, self->calls->total);
		return LODE_STYLE_PLAIN;
	case 1:
		lode_call_lines_count(out, isnan(share->calls) ? share->samples : share->calls);
		return LODE_STYLE_PLAIN;
	case 2:
		lode_call_lines_image(out, one, terminal);
		return LODE_STYLE_FAINT;
	default:
		lode_function_name_append(out, one->name, terminal);
		g_string_append(out, one->is_inlined ? " (inlined)" : "");
		return LODE_STYLE_STRONG;
	}
}

static void put_table(const Calls *self, const char *title, const GArray *shares)
{
	const LodeTableColumn columns[] = {{title},
		{self->costs->source == LODE_CALLS_FROM_COUNTS ? "calls" : "samples", .dropped = 1},
		{"image", .is_text = true, .dropped = 2}, {"function", .is_text = true}};
	const Body body = {self, shares};
	const LodeTable table = {
		columns, G_N_ELEMENTS(columns), n_shown(self, shares), cell, &body, NULL};

	fputc('\n', self->out);
	if (shares->len == 0)
		fprintf(self->out, "%s: none.\n", title);
	else
		lode_table_write(&table, &self->options->terminal, self->out);
	if (n_shown(self, shares) < shares->len)
		fprintf(self->out, "and %u more\n", shares->len - n_shown(self, shares));
}

static LodeStyle line_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Calls *self = user_data;
	const LodeOwnCaller *line = &g_array_index(self->lines, LodeOwnCaller, row);
	const LodeTerminal *terminal = &self->options->terminal;
	g_autofree char *name = line_name(line->frame);

	switch (column) {
	case 0:
		lode_call_lines_share(out, line->cost, self->total);
		return LODE_STYLE_PLAIN;
	case 1:
		lode_call_lines_count(out, line->samples);
		return LODE_STYLE_PLAIN;
	case 2:
		lode_display_append(out, name, terminal->is_ascii);
		return LODE_STYLE_STRONG;
	default:
		lode_function_name_append(
			out, line->frame->function != NULL ? line->frame->function : "?", terminal);
		return LODE_STYLE_PLAIN;
	}
}

static void put_lines(const Calls *self)
{
	static const LodeTableColumn columns[] = {{"Own lines"}, {"samples", .dropped = 1},
		{"line", .is_text = true}, {"function", .is_text = true, .dropped = 2}};
	const LodeTable table = {
		columns, G_N_ELEMENTS(columns), n_shown(self, self->lines), line_cell, self, NULL};

	if (self->lines->len == 0)
		return;
	fputc('\n', self->out);
	lode_table_write(&table, &self->options->terminal, self->out);
	if (n_shown(self, self->lines) < self->lines->len)
		fprintf(self->out, "and %u more\n", self->lines->len - n_shown(self, self->lines));
}

static void write_text(const Calls *self)
{
	const LodeTerminal *terminal = &self->options->terminal;
	const LodeFunctionCost *one = lode_function_cost_at(self->costs, self->function);
	g_autoptr(GString) name = g_string_new(NULL), image = g_string_new(NULL);
	char own[LODE_NUMBER_SIZE], inclusive[LODE_NUMBER_SIZE];

	lode_function_name_append(name, one->name, terminal);
	lode_call_lines_image(image, one, terminal);
	if (self->n_versions > 1)
		g_string_append_printf(name, " and %u other version%s", self->n_versions - 1,
			self->n_versions == 2 ? "" : "s");
	lode_profile_lines_print(terminal, self->out, "%s in %s: self %s, inclusive %s", name->str,
		image->str,
		lode_number_format_share(lode_share_of(self->found.self, self->total), own),
		isnan(self->found.inclusive)
			? "not known"
			: lode_number_format_share(
				  lode_share_of(self->found.inclusive, self->total), inclusive));
	if (self->profile->part != NULL)
		lode_profile_lines_print(terminal, self->out, "part: %s", self->profile->part);
	lode_call_lines_note(self->costs, terminal, self->out);
	if (self->options->has_callers)
		put_table(self, "Callers", self->found.callers);
	if (self->options->has_callers)
		put_lines(self);
	if (self->options->has_callees)
		put_table(self, "Callees", self->found.callees);
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
	switch (self->options->format) {
	case LODE_VIEW_TEXT:
		write_text(self);
		break;
	case LODE_VIEW_JSON:
		write_json(self);
		break;
	case LODE_VIEW_CSV:
		write_csv(self);
		break;
	}
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
