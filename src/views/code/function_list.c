/* SPDX-License-Identifier: MIT */
#include "views/code/function_list.h"

#include "analyses/calls/costed_functions.h"
#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "base/text/words.h"
#include "model/profile.h"
#include "views/calls/call_lines.h"
#include "views/calls/service_lines.h"
#include "views/code/function_name.h"
#include "views/form/row_stream.h"
#include "views/form/table.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_LIMIT = 50 };

typedef struct {
	uint32_t function; /* of LodeFunctionCosts */
	double executions, calls;
	const LodeFunctionCost *cost;
} Row;

typedef struct {
	const LodeProfile *profile;
	const LodeFunctionListOptions *options;
	LodeFunctionCosts *costs;
	LodeFamilies *families;
	GArray *family_costs; /* LodeFamilyCost */
	LodeServices *services;
	GArray *rows;     /* Row: all that pass */
	guint first, end; /* those to be shown */
	double total;
	FILE *out;
} List;

static const char *const order_words[LODE_N_FUNCTION_ORDERS] = {
	"weight", "inclusive", "executions", "calls", "name", "image"};

int lode_function_order_from_text(const char *text)
{
	return lode_word_find(order_words, G_N_ELEMENTS(order_words), text);
}

/* Where it is not known it is self at least. */
static double known_inclusive(const Row *row)
{
	return isnan(row->cost->inclusive) ? row->cost->self : row->cost->inclusive;
}

static int compare_rows(const void *a, const void *b, void *user_data)
{
	const Row *left = a, *right = b;
	const LodeFunctionListOptions *options = user_data;
	int order = 0;

	switch (options->order) {
	case LODE_FUNCTION_BY_INCLUSIVE:
		order = lode_compare_doubles_descending(
			&(double){known_inclusive(left)}, &(double){known_inclusive(right)});
		break;
	case LODE_FUNCTION_BY_EXECUTIONS:
		order = LODE_DESCENDING(executions);
		break;
	case LODE_FUNCTION_BY_CALLS:
		order = LODE_DESCENDING(calls);
		break;
	case LODE_FUNCTION_BY_NAME:
		order = strcmp(left->cost->name, right->cost->name);
		break;
	case LODE_FUNCTION_BY_IMAGE:
		order = strcmp(left->cost->image, right->cost->image);
		break;
	case LODE_FUNCTION_BY_WEIGHT:
	case LODE_N_FUNCTION_ORDERS:
		break;
	}
	if (options->is_reversed)
		order = -order;
	if (order == 0) {
		order = LODE_DESCENDING(cost->self);
		if (options->is_reversed && options->order == LODE_FUNCTION_BY_WEIGHT)
			order = -order;
	}
	return order != 0 ? order : lode_number_order(left->function, right->function);
}

/* ASCII letters in any case; NULL is in everything. */
static bool contains(const char *text, const char *part)
{
	return part == NULL || strcasestr(text, part) != NULL;
}

static void choose_rows(List *self)
{
	const LodeProfile *profile = self->profile;
	const LodeFunctionListOptions *options = self->options;
	guint n = self->costs->functions->len;

	self->rows = g_array_new(FALSE, FALSE, sizeof(Row));
	for (uint32_t i = 0; i < n; i++) {
		Row row = {.function = i, .cost = lode_function_cost_at(self->costs, i)};
		bool is_left_out = i >= profile->functions->len &&
		                   (row.cost->is_inlined || !(row.cost->inclusive > 0));
		if (is_left_out || !contains(row.cost->name, options->text) ||
			!contains(row.cost->image, options->image))
			continue;
		if (i < profile->functions->len) {
			const LodeFunction *function = lode_profile_function(profile, i);
			row.calls = function->calls;
			for (uint32_t j = 0; j < function->n_instructions; j++)
				row.executions += lode_profile_instruction(
					profile, function->first_instruction + j)
				                          ->count;
		}
		g_array_append_val(self->rows, row);
	}
	if (self->rows->len > 0)
		qsort_r(self->rows->data, self->rows->len, sizeof(Row), compare_rows,
			(void *)options);
	guint limit = options->limit != 0                 ? options->limit
	              : options->format == LODE_VIEW_TEXT ? TEXT_LIMIT
	                                                  : self->rows->len;
	self->first = MIN(options->offset, self->rows->len);
	self->end = self->first + MIN(limit, self->rows->len - self->first);
}

/* --- for programs --- */

static void put_events(const LodeProfile *profile, uint32_t number, LodeRowStream *rows)
{
	const LodeFunction none = {0};
	const LodeFunction *function = number < profile->functions->len
	                                       ? lode_profile_function(profile, number)
	                                       : &none;

	lode_row_begin_group(rows, "events", "event:");
	for (uint32_t event = 0; event < profile->events->len; event++) {
		double value = 0;
		for (uint32_t i = 0; i < function->n_instructions; i++)
			value += lode_profile_event_value(
				profile, event, function->first_instruction + i);
		lode_row_number(rows, lode_profile_event(profile, event)->name, value);
	}
	lode_row_end_group(rows);
}

static void put_row(const List *self, const Row *row, LodeRowStream *rows)
{
	const LodeFunction *function = row->function < self->profile->functions->len
	                                       ? lode_profile_function(self->profile, row->function)
	                                       : NULL;
	g_autofree char *address = function != NULL ? g_strdup_printf("0x%" G_GINT64_MODIFIER "x",
							      function->address)
	                                            : NULL;

	lode_row_begin(rows);
	lode_row_number(rows, "number", function != NULL ? row->function : (double)NAN);
	lode_function_name_row(rows, "name", row->cost->name);
	lode_row_text(rows, "image", row->cost->image);
	lode_row_text(rows, "address", address);
	lode_row_number(rows, "bytes", function != NULL ? (double)function->size : (double)NAN);
	lode_row_number(rows, "instructions", function != NULL ? function->n_instructions : 0);
	lode_row_number(rows, "weight", row->cost->self);
	lode_row_number(rows, "share", lode_share_of(row->cost->self, self->total));
	lode_row_number(rows, "inclusive", row->cost->inclusive);
	lode_row_number(rows, "samples", row->cost->samples);
	lode_row_number(rows, "executions", row->executions);
	lode_row_number(rows, "calls", row->calls);
	put_events(self->profile, row->function, rows);
	lode_row_end(rows);
}

static const Row *row_at(const List *self, size_t i)
{
	return &g_array_index(self->rows, Row, i);
}

static void write_csv(const List *self)
{
	static const LodeFunctionCost none;
	const Row titles = {.function = LODE_NONE, .cost = &none};
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, self->out);
	put_row(self, &titles, &rows);
	for (guint i = self->first; i < self->end; i++)
		put_row(self, row_at(self, i), &rows);
}

static void put_family(const List *self, const LodeFamilyCost *cost, LodeJsonStream *json)
{
	const LodeFamily *family = lode_families_at(self->families, cost->family);

	lode_json_line(json);
	lode_json_begin(json, '{');
	lode_json_member_string(json, "name", family->name);
	lode_json_member_string(json, "description", family->description);
	lode_json_member_number(json, "weight", cost->self);
	lode_json_member_number(json, "inclusive", cost->inclusive);
	lode_json_member_number(json, "functions", cost->n);
	lode_json_key(json, "top");
	lode_json_begin(json, '[');
	for (unsigned i = 0; i < G_N_ELEMENTS(cost->members); i++)
		if (cost->members[i] != LODE_NONE)
			lode_json_string(
				json, lode_function_cost_at(self->costs, cost->members[i])->name);
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void write_json(const List *self)
{
	LodeJsonStream json;
	LodeRowStream rows;

	lode_profile_json_begin(&json, self->out, self->profile, NULL);
	lode_json_member_string(
		&json, "inclusive_from", lode_call_source_to_text(self->costs->source));
	lode_json_member_number(&json, "passed", self->rows->len);
	lode_json_member_number(&json, "offset", self->first);
	lode_json_key(&json, "families");
	lode_json_begin(&json, '[');
	for (guint i = 0; i < self->family_costs->len; i++)
		put_family(self, &g_array_index(self->family_costs, LodeFamilyCost, i), &json);
	lode_json_end(&json, ']');
	const LodeServiceLines lines = {self->costs, self->families, self->services, self->total};
	lode_service_lines_json(&lines, &json);
	lode_row_stream_init_json(&rows, &json);
	lode_json_key(&json, "functions");
	lode_json_begin(&json, '[');
	for (guint i = self->first; i < self->end; i++)
		put_row(self, row_at(self, i), &rows);
	lode_json_end(&json, ']');
	lode_json_end(&json, '}');
}

/* --- for people --- */

enum { COLUMN_SELF, COLUMN_INCLUSIVE, COLUMN_SAMPLES, COLUMN_IMAGE, COLUMN_NAME, N_COLUMNS };

/* A column is left out where nothing is known for it. */
typedef struct {
	const List *list;
	unsigned columns[N_COLUMNS];
	unsigned n_columns;
} Body;

static LodeStyle function_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Body *body = user_data;
	const List *self = body->list;
	const LodeFunctionCost *cost = row_at(self, self->first + row)->cost;

	switch (body->columns[column]) {
	case COLUMN_SELF:
		lode_call_lines_share(out, cost->self, self->total);
		return LODE_STYLE_PLAIN;
	case COLUMN_INCLUSIVE:
		lode_call_lines_share(out, cost->inclusive, self->total);
		return LODE_STYLE_PLAIN;
	case COLUMN_SAMPLES:
		lode_call_lines_count(out, cost->samples);
		return LODE_STYLE_PLAIN;
	case COLUMN_IMAGE:
		lode_call_lines_image(out, cost, &self->options->terminal);
		return LODE_STYLE_FAINT;
	default:
		lode_call_lines_name(out, cost, &self->options->terminal);
		return LODE_STYLE_STRONG;
	}
}

static LodeStyle family_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Body *body = user_data;
	const List *self = body->list;
	const LodeFamilyCost *cost = &g_array_index(self->family_costs, LodeFamilyCost, row);

	switch (body->columns[column]) {
	case COLUMN_SELF:
		lode_call_lines_share(out, cost->self, self->total);
		return LODE_STYLE_PLAIN;
	case COLUMN_INCLUSIVE:
		lode_call_lines_share(out, cost->inclusive, self->total);
		return LODE_STYLE_PLAIN;
	default:
		lode_call_lines_family(
			out, self->costs, self->families, cost, 0, &self->options->terminal);
		return LODE_STYLE_STRONG;
	}
}

static bool has_family_inclusive(const List *self)
{
	for (guint i = 0; i < self->family_costs->len; i++)
		if (!isnan(g_array_index(self->family_costs, LodeFamilyCost, i).inclusive))
			return true;
	return false;
}

static void put_table(const List *self, size_t n_rows, bool are_families)
{
	const bool is_known[N_COLUMNS] = {
		[COLUMN_SELF] = true,
		[COLUMN_INCLUSIVE] = are_families ? has_family_inclusive(self)
	                                          : self->costs->source != LODE_CALLS_UNKNOWN,
		[COLUMN_SAMPLES] = !are_families && n_rows > 0 &&
	                           !isnan(row_at(self, self->first)->cost->samples),
		[COLUMN_IMAGE] = !are_families,
		[COLUMN_NAME] = true,
	};
	const LodeTableColumn all[N_COLUMNS] = {
		[COLUMN_SELF] = {"self"},
		[COLUMN_INCLUSIVE] = {"inclusive"},
		[COLUMN_SAMPLES] = {"samples", .dropped = 1},
		[COLUMN_IMAGE] = {"image", .is_text = true, .dropped = 2},
		[COLUMN_NAME] = {are_families ? "family" : "function", .is_text = true},
	};
	LodeTableColumn columns[N_COLUMNS];
	Body body = {.list = self};

	for (unsigned i = 0; i < N_COLUMNS; i++) {
		if (!is_known[i])
			continue;
		columns[body.n_columns] = all[i];
		body.columns[body.n_columns++] = i;
	}
	const LodeTable table = {columns, body.n_columns, n_rows,
		are_families ? family_cell : function_cell, &body, NULL};
	lode_table_write(&table, &self->options->terminal, self->out);
}

static void write_text(const List *self)
{
	const LodeTerminal *terminal = &self->options->terminal;

	lode_profile_lines_head_of_functions(
		self->profile, self->profile->weight_event, terminal, self->out);
	lode_call_lines_note(self->costs, terminal, self->out);
	lode_call_lines_unnamed(self->costs, self->total, terminal, self->out);
	fputc('\n', self->out);
	if (self->end > self->first)
		put_table(self, self->end - self->first, false);
	else
		fputs("No function passes these filters.\n", self->out);
	if (self->end < self->rows->len)
		lode_profile_lines_print(terminal, self->out,
			"and %u more function%s; --limit %u shows all", self->rows->len - self->end,
			self->rows->len - self->end == 1 ? "" : "s", self->rows->len);
	if (self->options->text != NULL || self->options->image != NULL)
		return;
	if (self->family_costs->len > 0) {
		fputc('\n', self->out);
		put_table(self, self->family_costs->len, true);
	}
	const LodeServiceLines lines = {self->costs, self->families, self->services, self->total};
	lode_service_lines_write(&lines, terminal, self->out);
}

bool lode_function_list_write(const LodeProfile *profile, uint32_t weight_event,
	const LodeFunctionListOptions *options, FILE *out, GError **error)
{
	g_autoptr(LodeCostedFunctions)
		functions = lode_costed_functions_new(profile, weight_event, NULL);
	List self = {.profile = profile,
		.options = options,
		.costs = functions->costs,
		.families = functions->families,
		.family_costs = functions->family_costs,
		.services = functions->services,
		.total = lode_profile_event_total(profile, weight_event),
		.out = out};

	choose_rows(&self);
	switch (options->format) {
	case LODE_VIEW_TEXT:
		write_text(&self);
		break;
	case LODE_VIEW_JSON:
		write_json(&self);
		break;
	case LODE_VIEW_CSV:
		write_csv(&self);
		break;
	}
	g_array_unref(self.rows);
	return lode_view_flush(out, error);
}
