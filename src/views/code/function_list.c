/* SPDX-License-Identifier: MIT */
#include "views/code/function_list.h"

#include "analyses/calls/costed_functions.h"
#include "analyses/calls/services.h"
#include "base/arrays/sort_order.h"
#include "base/text/json_stream.h"
#include "base/text/number_format.h"
#include "base/text/words.h"
#include "model/code.h"
#include "model/index.h"
#include "views/calls/call_lines.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/format.h"
#include "views/form/function_name.h"
#include "views/form/table.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Services and who calls them, as text and JSON. */

typedef struct {
	const LodeFunctionCosts *costs;
	const LodeFamilies *families;
	const LodeServices *services;
	double total; /* of the event */
} ServiceLines;

enum { SHOWN_CALLERS = 3, MOST_ROWS = 20, NAME_WIDTH = 40 };

#define LEAST_SHARE 0.01

/* So much of a service is all of it. */
#define ALL 0.995

static const LodeService *service_at(const ServiceLines *self, size_t i)
{
	return &g_array_index(self->services->services, LodeService, i);
}

/* "strlen", "allocator (family)". */
static void service_lines_name(const ServiceLines *self, const LodeService *service,
	const LodeTerminal *terminal, GString *out)
{
	if (service->function == LODE_NONE) {
		g_string_append_printf(out, "%s (family)",
			lode_families_at(self->families, service->family)->name);
		return;
	}
	g_autofree char *called = lode_service_called_name(
		lode_function_cost_at(self->costs, service->function));
	g_autoptr(GString) name = g_string_new(NULL);
	lode_function_name_append(name, called, terminal);
	if (!terminal->has_full_names)
		lode_display_shorten(name, NAME_WIDTH, terminal->is_ascii);
	g_string_append(out, name->str);
}

static void put_caller(const ServiceLines *self, const LodeService *service,
	const LodeServiceCaller *caller, const LodeTerminal *terminal, GString *out)
{
	const char *name = lode_function_cost_at(self->costs, caller->function)->name;
	g_autofree char *bare = terminal->has_full_names ? g_strdup(name)
	                                                 : lode_function_name_bare(name);

	lode_display_append(out, bare, terminal->is_ascii);
	if (caller->file != NULL) {
		g_string_append_c(out, ' ');
		lode_display_append_line(out, caller->file, caller->line, terminal->is_ascii);
	}
	if (caller->cost >= ALL * service->inclusive)
		g_string_append(out, " (all of it)");
	else
		g_string_append_printf(
			out, " %s", LODE_SHARE_TEXT(lode_share_of(caller->cost, self->total)));
}

static void put_callers(const ServiceLines *self, const LodeService *service,
	const LodeTerminal *terminal, GString *out)
{
	guint n = MIN(service->n_callers, SHOWN_CALLERS);

	for (guint i = 0; i < n; i++) {
		g_string_append(out, i > 0 ? ", " : "");
		put_caller(self, service, lode_service_caller(self->services, service, i), terminal,
			out);
	}
	if (service->n_callers > n)
		g_string_append_printf(out, " +%u", service->n_callers - n);
	if (service->unknown >= LEAST_SHARE * self->total)
		g_string_append_printf(out, "%snot known %s", n > 0 ? ", " : "",
			LODE_SHARE_TEXT(lode_share_of(service->unknown, self->total)));
}

typedef struct {
	const ServiceLines *lines;
	const LodeTerminal *terminal;
} Body;

static LodeStyle cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Body *self = user_data;
	const LodeService *service = service_at(self->lines, row);

	switch (column) {
	case 0:
		lode_call_lines_share(out, service->inclusive, self->lines->total);
		return LODE_STYLE_PLAIN;
	case 1:
		if (!isnan(service->error))
			g_string_append_printf(out, "%.1f",
				100 * lode_share_of(service->error, self->lines->total));
		return LODE_STYLE_FAINT;
	case 2:
		service_lines_name(self->lines, service, self->terminal, out);
		return LODE_STYLE_STRONG;
	default:
		put_callers(self->lines, service, self->terminal, out);
		return LODE_STYLE_PLAIN;
	}
}

/* A table of those that have at least a hundredth, after a blank line; nothing without any. */
static void service_lines_write(const ServiceLines *self, const LodeTerminal *terminal, FILE *out)
{
	static const char *const titles[] = {
		[LODE_CALLS_UNKNOWN] = "called from",
		[LODE_CALLS_FROM_STACKS] = "called from (by stacks)",
		[LODE_CALLS_FROM_COUNTS] = "called from (by counted calls)",
		[LODE_CALLS_FROM_TOPS] = "called from (by the top of the stack)",
		[LODE_CALLS_INFERRED] = "called from (by inferred calls)",
	};
	const LodeTableColumn columns[] = {{"inclusive"}, {"±", .dropped = 1},
		{"service", .is_text = true}, {titles[self->services->source], .is_text = true}};
	const Body body = {self, terminal};
	LodeTable table = {columns, G_N_ELEMENTS(columns), 0, cell, &body, NULL};

	while (table.n_rows < MIN(self->services->services->len, MOST_ROWS) &&
		service_at(self, table.n_rows)->inclusive >= LEAST_SHARE * self->total)
		table.n_rows++;
	if (table.n_rows == 0)
		return;
	fputc('\n', out);
	lode_table_write(&table, terminal, out);
}

static void put_json(const ServiceLines *self, const LodeService *service, LodeJsonStream *json)
{
	lode_json_line_begin(json, '{');
	if (service->function != LODE_NONE) {
		const LodeFunctionCost *one = lode_function_cost_at(self->costs, service->function);
		g_autofree char *called = lode_service_called_name(one);
		lode_json_member_string(json, "function", one->name);
		lode_json_member_string(json, "called", called);
		lode_json_member_string(json, "image", one->image);
	}
	lode_json_member_string(json, "family",
		service->family != LODE_NONE
			? lode_families_at(self->families, service->family)->name
			: NULL);
	lode_json_member_number(json, "weight", service->self);
	lode_json_member_number(json, "inclusive", service->inclusive);
	lode_json_member_number(json, "error", service->error);
	lode_json_member_number(json, "unknown", service->unknown);
	lode_json_member_begin(json, "callers", '[');
	for (guint i = 0; i < service->n_callers; i++) {
		const LodeServiceCaller *caller = lode_service_caller(self->services, service, i);
		lode_json_begin(json, '{');
		lode_function_name_json(json, "function",
			lode_function_cost_at(self->costs, caller->function)->name);
		lode_json_member_string(json, "file", caller->file);
		lode_json_member_number(json, "line", caller->line);
		lode_json_member_number(json, "weight", caller->cost);
		lode_json_member_number(json, "samples", caller->samples);
		lode_json_member_number(json, "calls", caller->calls);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

/* The members "services_from" and "services" of an object. */
static void service_lines_json(const ServiceLines *self, LodeJsonStream *json)
{
	lode_json_member_string(
		json, "services_from", lode_call_source_to_text(self->services->source));
	lode_json_member_begin(json, "services", '[');
	for (guint i = 0; i < self->services->services->len; i++)
		if (service_at(self, i)->inclusive >= LEAST_SHARE * self->total)
			put_json(self, service_at(self, i), json);
	lode_json_end(json, ']');
}

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
		bool is_left_out = i >= lode_code_of(profile)->functions->len &&
		                   (row.cost->is_inlined || !(row.cost->inclusive > 0));
		if (is_left_out || !contains(row.cost->name, options->text) ||
			!contains(row.cost->image, options->image))
			continue;
		if (i < lode_code_of(profile)->functions->len) {
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

static const Row *row_at(const List *self, size_t i)
{
	return &g_array_index(self->rows, Row, i);
}

/* --- the table of functions --- */

enum { HAS_INCLUSIVE = 1, HAS_SAMPLES = 2 };

typedef struct {
	LodeFunctionCost cost;
	double number, bytes; /* no number: it is not one of the profile's */
	uint32_t n_instructions;
	char *address;
	const char *language, *script_function,
		*file; /* of a function of a script; NULL: it is none */
	double line;   /* likewise; no number */
	double executions, calls, share, inclusive_share;
	double events[];
} FunctionRow;

static LodeStyle append_name(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	(void)user_data;
	lode_call_lines_name(out, &((const FunctionRow *)row)->cost, terminal);
	return LODE_STYLE_STRONG;
}

static const LodeColumn function_columns[] = {
	{"number", LODE_CELL_NUMBER(FunctionRow, number), .is_nullable = true},
	{"name", LODE_CELL_NAME(FunctionRow, cost.name)},
	{"image", LODE_CELL_TEXT(FunctionRow, cost.image)},
	{"language", LODE_CELL_TEXT(FunctionRow, language), .is_optional = true,
		.only = LODE_IN_JSON},
	{"function", LODE_CELL_TEXT(FunctionRow, script_function), .is_optional = true,
		.only = LODE_IN_JSON},
	{"file", LODE_CELL_TEXT(FunctionRow, file), .is_optional = true, .only = LODE_IN_JSON},
	{"line", LODE_CELL_NUMBER(FunctionRow, line), .is_optional = true, .only = LODE_IN_JSON},
	{"address", LODE_CELL_TEXT(FunctionRow, address), .is_nullable = true},
	{"bytes", LODE_CELL_NUMBER(FunctionRow, bytes), .is_nullable = true},
	{"instructions", LODE_CELL_NUMBER(FunctionRow, n_instructions)},
	{"weight", LODE_CELL_NUMBER(FunctionRow, cost.self)},
	{"share", LODE_CELL_SHARE(FunctionRow, share), .title = "self", .at = 1},
	{"inclusive", LODE_CELL_NUMBER(FunctionRow, cost.inclusive), .is_nullable = true},
	{"samples", LODE_CELL_NUMBER(FunctionRow, cost.samples), .is_nullable = true},
	{"executions", LODE_CELL_NUMBER(FunctionRow, executions)},
	{"calls", LODE_CELL_NUMBER(FunctionRow, calls)},
	{"events", LODE_GROUP("event:")},
	{"EVENT", LODE_CELL_NUMBER(FunctionRow, events[0]), .is_repeated = true},
	LODE_GROUP_END,
	{NULL, LODE_CELL_SHARE(FunctionRow, inclusive_share), .title = "inclusive", .at = 2,
		.when = HAS_INCLUSIVE},
	{NULL, LODE_CELL_COUNT(FunctionRow, cost.samples), .title = "samples", .at = 3,
		.dropped = 1, .when = HAS_SAMPLES},
	{.title = "image", .append = lode_call_lines_image_cell, .at = 4, .dropped = 2},
	{.title = "function", .append = append_name, .at = 5},
};
const LodeColumns lode_function_list_columns = LODE_COLUMNS(
	"functions", function_columns, FunctionRow);

static void fill_function(size_t i, void *out, const void *user_data)
{
	const List *self = user_data;
	const LodeProfile *profile = self->profile;
	const Row *from = row_at(self, self->first + i);
	FunctionRow *row = out;

	row->cost = *from->cost;
	row->executions = from->executions;
	row->calls = from->calls;
	row->share = lode_share_of(row->cost.self, self->total);
	row->inclusive_share = lode_call_lines_share_of(row->cost.inclusive, self->total);
	row->number = row->bytes = row->line = (double)NAN;
	if (row->cost.script_line > 0) {
		row->language = row->cost.language;
		row->script_function = row->cost.name;
		row->file = row->cost.image;
		row->line = row->cost.script_line;
	}
	if (from->function >= lode_code_of(profile)->functions->len)
		return;
	const LodeFunction *function = lode_profile_function(profile, from->function);
	row->number = from->function;
	row->address = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", function->address);
	row->bytes = (double)function->size;
	row->n_instructions = function->n_instructions;
	for (uint32_t event = 0; event < lode_code_of(profile)->events->len; event++)
		for (uint32_t k = 0; k < function->n_instructions; k++)
			row->events[event] += lode_profile_event_value(
				profile, event, function->first_instruction + k);
}

/* --- the table of families --- */

typedef struct {
	LodeFamilyCost cost;
	const char *name, *description;
	double share, inclusive_share;
} FamilyRow;

static void put_top(LodeJsonStream *json, const void *row, const void *user_data)
{
	const LodeFamilyCost *cost = &((const FamilyRow *)row)->cost;
	const List *self = user_data;

	lode_json_member_begin(json, "top", '[');
	for (unsigned i = 0; i < G_N_ELEMENTS(cost->members); i++)
		if (cost->members[i] != LODE_NONE)
			lode_json_string(
				json, lode_function_cost_at(self->costs, cost->members[i])->name);
	lode_json_end(json, ']');
}

static LodeStyle append_family(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const List *self = user_data;

	lode_call_lines_family(
		out, self->costs, self->families, &((const FamilyRow *)row)->cost, 0, terminal);
	return LODE_STYLE_STRONG;
}

static const LodeColumn family_columns[] = {
	{"name", LODE_CELL_TEXT(FamilyRow, name)},
	{"description", LODE_CELL_TEXT(FamilyRow, description)},
	{"weight", LODE_CELL_NUMBER(FamilyRow, cost.self)},
	{"inclusive", LODE_CELL_NUMBER(FamilyRow, cost.inclusive)},
	{"functions", LODE_CELL_NUMBER(FamilyRow, cost.n)},
	{.put = put_top},
	{NULL, LODE_CELL_SHARE(FamilyRow, share), .title = "self", .at = 1},
	{NULL, LODE_CELL_SHARE(FamilyRow, inclusive_share), .title = "inclusive", .at = 2,
		.when = HAS_INCLUSIVE},
	{.title = "family", .append = append_family, .at = 3},
};
const LodeColumns lode_function_families_columns = LODE_COLUMNS(
	"families", family_columns, FamilyRow);

static void fill_family(size_t i, void *out, const void *user_data)
{
	const List *self = user_data;
	const LodeFamilyCost *cost = &g_array_index(self->family_costs, LodeFamilyCost, i);
	const LodeFamily *family = lode_families_at(self->families, cost->family);

	*(FamilyRow *)out = (FamilyRow){*cost, family->name, family->description,
		lode_share_of(cost->self, self->total),
		lode_call_lines_share_of(cost->inclusive, self->total)};
}

static LodeListing families_of(const List *self)
{
	LodeListing listing = {&lode_function_families_columns, self->family_costs->len,
		.fill = fill_family, .user_data = self};

	for (guint i = 0; i < self->family_costs->len; i++)
		if (!isnan(g_array_index(self->family_costs, LodeFamilyCost, i).inclusive))
			listing.what = HAS_INCLUSIVE;
	return listing;
}

static void write_json(const List *self, const LodeListing *functions)
{
	const LodeListing families = families_of(self);
	LodeJsonStream json;

	lode_profile_json_begin(&json, self->out, self->profile, NULL);
	lode_json_member_string(
		&json, "inclusive_from", lode_call_source_to_text(self->costs->source));
	lode_json_member_number(&json, "passed", self->rows->len);
	lode_json_member_number(&json, "offset", self->first);
	lode_listing_put_json(&families, &json);
	const ServiceLines lines = {self->costs, self->families, self->services, self->total};
	service_lines_json(&lines, &json);
	lode_listing_put_json(functions, &json);
	lode_json_end(&json, '}');
}

static void write_text(const List *self, const LodeListing *functions)
{
	const LodeTerminal *terminal = &self->options->terminal;

	lode_profile_lines_head_of_functions(
		self->profile, lode_code_of(self->profile)->weight_event, terminal, self->out);
	lode_call_lines_note(self->costs, terminal, self->out);
	lode_call_lines_unnamed(self->costs, self->total, terminal, self->out);
	fputc('\n', self->out);
	if (functions->n_rows > 0)
		lode_listing_write_text(functions, terminal, self->out);
	else
		fputs("No function passes these filters.\n", self->out);
	if (self->end < self->rows->len)
		lode_display_print(terminal, self->out,
			"and %u more function%s; --limit %u shows all", self->rows->len - self->end,
			self->rows->len - self->end == 1 ? "" : "s", self->rows->len);
	if (self->options->text != NULL || self->options->image != NULL)
		return;
	const LodeListing families = families_of(self);
	if (families.n_rows > 0) {
		fputc('\n', self->out);
		lode_listing_write_text(&families, terminal, self->out);
	}
	const ServiceLines lines = {self->costs, self->families, self->services, self->total};
	service_lines_write(&lines, terminal, self->out);
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
	g_autofree const char **events = g_new(
		const char *, lode_code_of(profile)->events->len + 1);
	for (uint32_t i = 0; i < lode_code_of(profile)->events->len; i++)
		events[i] = lode_profile_event(profile, i)->name;
	LodeColumns columns;
	lode_columns_repeat(
		&lode_function_list_columns, events, lode_code_of(profile)->events->len, &columns);
	const LodeListing listing = {
		.columns = &columns,
		.n_rows = self.end - self.first,
		.fill = fill_function,
		.user_data = &self,
		.what = (self.costs->source != LODE_CALLS_UNKNOWN ? HAS_INCLUSIVE : 0) |
	                (self.end > self.first && !isnan(row_at(&self, self.first)->cost->samples)
					? HAS_SAMPLES
					: 0),
	};
	if (options->format == LODE_VIEW_TEXT)
		write_text(&self, &listing);
	else if (options->format == LODE_VIEW_JSON)
		write_json(&self, &listing);
	else
		lode_listing_write_csv(&listing, out);
	g_free((void *)columns.columns);
	g_array_unref(self.rows);
	return lode_view_flush(out, error);
}
