/* SPDX-License-Identifier: MIT */
#include "views/findings/top_functions.h"

#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/stacks.h"
#include "views/calls/call_lines.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shares stand before the names, in two columns of at most so much. */
enum { MOST_ROWS = 5, SCREEN_WIDTH = 80, SHARES_WIDTH = 22, CALLER_WIDTH = 24, LEAST_WIDTH = 20 };

/* The least share of a line. */
#define LEAST_SHARE 0.02

/* So much more than its costliest function a family must have to stand for it. */
#define FAMILY_MATTERS 1.2

/* The least share of a function of a library whose caller is missed. */
#define CALLERS_MATTER 0.1

typedef struct {
	const LodeFamilyCost *family; /* NULL: a function */
	uint32_t function;            /* of several versions the costliest */
	double self, inclusive;
	uint32_t caller;
	const LodeServiceCaller *line; /* of the caller; NULL: not known */
	guint n_more;                  /* callers besides */
	double time;                   /* by which it is chosen */
} Row;

LODE_ORDER(compare_rows, Row, LODE_DESCENDING(time), LODE_ASCENDING(function))

static bool is_shown_as_family(const LodeTopFunctions *self, const LodeFamilyCost *cost)
{
	double time = lode_family_cost_time(cost);
	double most =
		cost->n > 0 ? lode_function_cost_at(self->functions->costs, cost->members[0])->self
			    : 0;

	/* Inlined code counts for the functions around it. */
	if (cost->n == 1 ||
		(cost->n == 0 &&
			!lode_families_at(self->functions->families, cost->family)->is_kernel))
		return false;
	return time >= LEAST_SHARE * self->total && time > FAMILY_MATTERS * most;
}

/* So much of a row's cost must have a known caller. */
#define LEAST_KNOWN 0.5

/* LODE_NONE where most of them have no known caller, as with stacks of one function: the few that
 * have one say nothing of the others. */
static uint32_t find_first_caller(
	const LodeTopFunctions *self, const Row *row, const bool *is_marked, bool has_own_callers)
{
	g_auto(LodeNeighbours) found = {0};
	uint32_t caller = LODE_NONE;
	double known = 0;

	lode_neighbours_init(&found, self->functions->costs, is_marked, has_own_callers);
	for (guint i = 0; i < found.callers->len; i++) {
		const LodeCallShare *share = &g_array_index(found.callers, LodeCallShare, i);
		if (is_marked[share->function] ||
			strcmp(lode_function_cost_at(self->functions->costs, share->function)->name,
				"[unknown]") == 0)
			continue;
		caller = caller != LODE_NONE ? caller : share->function;
		known += share->cost;
	}
	return known >= LEAST_KNOWN * row->time ? caller : LODE_NONE;
}

/* What calls the row's functions most and is none of them; of the user's own code, if any is. What
 * calls that code from a library, such as the start of a thread, says nothing. */
static uint32_t find_caller(const LodeTopFunctions *self, const Row *row)
{
	guint n = self->functions->costs->functions->len;
	g_autofree bool *is_marked = g_new0(bool, n + 1);

	if (row->family == NULL)
		is_marked[row->function] = true;
	for (guint i = 0; i < n && row->family != NULL; i++)
		is_marked[i] = self->functions->family_of[i] == row->family->family;
	uint32_t own = find_first_caller(self, row, is_marked, true);
	bool is_own = row->family == NULL &&
	              lode_function_cost_at(self->functions->costs, row->function)->is_own;
	return own != LODE_NONE || is_own ? own : find_first_caller(self, row, is_marked, false);
}

/* The callers of a service, of which most must be known; false: others may be asked. Inferred calls
 * do not say which of several has more of it. */
static bool take_service_caller(const LodeTopFunctions *self, Row *row)
{
	const LodeServices *services = self->functions->services;
	const LodeService *service =
		row->family != NULL ? lode_services_find(services, LODE_NONE, row->family->family)
				    : lode_services_find(services, row->function, LODE_NONE);

	if (service == NULL || service->n_callers == 0 ||
		service->inclusive - service->unknown < LEAST_KNOWN * row->time)
		return service != NULL && services->source == LODE_CALLS_FROM_TOPS;
	row->line = lode_service_caller(services, service, 0);
	row->caller = row->line->function;
	for (guint i = 1; i < service->n_callers; i++)
		row->n_more += lode_service_caller(services, service, i)->function != row->caller;
	if (services->source == LODE_CALLS_INFERRED && row->n_more > 0)
		row->caller = LODE_NONE;
	return true;
}

/* Whether they are one method that a run-time compiler has compiled twice. */
static bool are_versions(const LodeTopFunctions *self, const Row *a, const Row *b)
{
	const LodeProfile *profile = self->functions->costs->profile;

	if (a->family != NULL || b->family != NULL)
		return false;
	return lode_function_is_version(profile, lode_profile_function(profile, a->function),
		lode_profile_function(profile, b->function));
}

/* Versions of a function are one to who wrote it. The rows are sorted before and after. */
static void join_versions(LodeTopFunctions *self)
{
	for (guint i = 0; i < self->rows->len; i++) {
		Row *first = &g_array_index(self->rows, Row, i);
		for (guint k = self->rows->len; k-- > i + 1;) {
			const Row *other = &g_array_index(self->rows, Row, k);
			if (!are_versions(self, first, other))
				continue;
			first->self += other->self;
			first->inclusive += other->inclusive;
			first->time += other->time;
			g_array_remove_index(self->rows, k);
		}
	}
	g_array_sort(self->rows, compare_rows);
}

static void choose_rows(LodeTopFunctions *self)
{
	g_autofree bool *is_shown = g_new0(bool, lode_families_n(self->functions->families) + 1);
	bool has_entries = false; /* into the kernel, whose functions are then part of them */

	for (guint i = 0; i < self->functions->family_costs->len; i++) {
		const LodeFamilyCost *cost = &g_array_index(
			self->functions->family_costs, LodeFamilyCost, i);
		const Row row = {.family = cost,
			.function = LODE_NONE,
			.self = cost->self,
			.inclusive = cost->inclusive,
			.caller = LODE_NONE,
			.time = lode_family_cost_time(cost)};
		if (!is_shown_as_family(self, cost))
			continue;
		is_shown[cost->family] = true;
		has_entries |= cost->n == 0;
		g_array_append_val(self->rows, row);
	}
	for (uint32_t i = 0; i < lode_code_of(self->functions->costs->profile)->functions->len;
		i++) {
		const LodeFunctionCost *cost = lode_function_cost_at(self->functions->costs, i);
		const Row row = {.function = i,
			.self = cost->self,
			.inclusive = cost->inclusive,
			.caller = LODE_NONE,
			.time = cost->self};
		uint32_t family = self->functions->family_of[i];
		bool is_member = family != LODE_NONE &&
		                 (is_shown[family] ||
					 (has_entries &&
						 lode_families_at(self->functions->families, family)
							 ->is_kernel));
		if (!is_member && row.time > 0 && row.time >= LEAST_SHARE * self->total)
			g_array_append_val(self->rows, row);
	}
	g_array_sort(self->rows, compare_rows);
	join_versions(self);
	g_array_set_size(self->rows, MIN(self->rows->len, MOST_ROWS));
	for (guint i = 0; i < self->rows->len; i++) {
		Row *row = &g_array_index(self->rows, Row, i);
		if (!take_service_caller(self, row))
			row->caller = find_caller(self, row);
	}
}

void lode_top_functions_init(
	LodeTopFunctions *self, const LodeCostedFunctions *functions, uint32_t event, double user)
{
	*self = (LodeTopFunctions){
		.functions = functions,
		.rows = g_array_new(FALSE, FALSE, sizeof(Row)),
		.total = lode_profile_event_total(functions->costs->profile, event) /
	                 (user > 0 ? user : 1),
	};
	choose_rows(self);
}

void lode_top_functions_keep(LodeTopFunctions *self, guint n)
{
	g_array_set_size(self->rows, MIN(self->rows->len, n));
}

void lode_top_functions_clear(LodeTopFunctions *self)
{
	g_clear_pointer(&self->rows, g_array_unref);
}

/* Without qualifiers that it has no room for: they stand before what says which function it is. */
static void put_caller(const char *name, const LodeTerminal *terminal, GString *out)
{
	g_autofree char *bare = terminal->has_full_names ? g_strdup(name)
	                                                 : lode_function_name_bare(name);
	const char *begin = bare, *next;

	while (strlen(begin) > CALLER_WIDTH && (next = strstr(begin, "::")) != NULL &&
		memchr(begin, '<', (size_t)(next - begin)) == NULL)
		begin = next + strlen("::");
	lode_display_append(out, begin, terminal->is_ascii);
	lode_display_shorten(out, CALLER_WIDTH, terminal->is_ascii);
	g_string_prepend(out, ", from ");
}

/* " at words.c:12", if it is known. */
static void append_line(const Row *row, bool is_ascii, GString *out)
{
	if (row->caller == LODE_NONE || row->line == NULL || row->line->file == NULL)
		return;
	g_string_append(out, " at ");
	lode_display_append_line(out, row->line->file, row->line->line, is_ascii);
}

static void put_name(
	const LodeTopFunctions *self, const Row *row, const LodeTerminal *terminal, GString *out)
{
	const LodeFunctionCosts *costs = self->functions->costs;
	bool is_ascii = terminal->is_ascii;
	g_autoptr(GString) name = g_string_new(NULL), caller = g_string_new(NULL);
	g_autoptr(GString) line = g_string_new(NULL);
	char more[16] = "";
	size_t width = terminal->width > SHARES_WIDTH ? terminal->width - SHARES_WIDTH : 0;

	append_line(row, is_ascii, line);
	if (row->caller != LODE_NONE)
		put_caller(lode_function_cost_at(costs, row->caller)->name, terminal, caller);
	if (row->n_more > 0 && row->caller != LODE_NONE)
		g_snprintf(more, sizeof more, " +%u", row->n_more);
	size_t used = lode_display_width(caller->str) + strlen(more);
	width = width > used + LEAST_WIDTH ? width - used : LEAST_WIDTH;
	if (row->family != NULL) {
		lode_call_lines_family(
			name, costs, self->functions->families, row->family, width, terminal);
	} else {
		const LodeFunction *function = lode_profile_function(costs->profile, row->function);
		g_autofree char *library = lode_function_library(costs->profile, function);
		lode_call_lines_name(name, lode_function_cost_at(costs, row->function), terminal);
		if (library != NULL)
			g_string_append(name, " in ");
		lode_display_append(name, library != NULL ? library : "", is_ascii);
	}
	lode_display_shorten(name, width, is_ascii);
	bool has_room = lode_display_width(name->str) + lode_display_width(line->str) <= width;
	g_string_append_printf(
		out, "%s%s%s%s", name->str, caller->str, has_room ? line->str : "", more);
}

/* The name alone of a library's costly function says little. */
static bool lacks_callers(const LodeTopFunctions *self)
{
	if (lode_call_lines_advice(self->functions->costs) == NULL ||
		lode_stacks_of(self->functions->costs->profile) == NULL)
		return false;
	for (guint i = 0; i < self->rows->len; i++) {
		const Row *row = &g_array_index(self->rows, Row, i);
		bool is_own = row->family == NULL &&
		              lode_function_cost_at(self->functions->costs, row->function)->is_own;
		if (!is_own && row->time >= CALLERS_MATTER * self->total)
			return true;
	}
	return false;
}

/* What is to be known of the rows: how long the stacks are, who calls them, what has no name. */
static void put_notes(const LodeTopFunctions *self, const LodeTerminal *terminal, FILE *out)
{
	lode_call_lines_short(self->functions->costs, terminal, out);
	if (lacks_callers(self))
		lode_display_print(terminal, out,
			"Who calls them was not recorded: -g or --call-graph dwarf records it.");
	lode_call_lines_unnamed(self->functions->costs, self->total, terminal, out);
}

/* So wide the names of a family and its members may be where nothing else is in the line. */
enum { FAMILY_WIDTH = 100 };

typedef struct {
	const Row *of;
	char *name;
	const char *function, *image, *caller, *file; /* of a family no function and no image */
	double number, self, inclusive;
	uint32_t line, n_more;
} Cells;

static void put_short_name(LodeJsonStream *json, const void *row, const void *user_data)
{
	(void)user_data;
	lode_function_name_json_short(json, "name", ((const Cells *)row)->function);
}

static LodeStyle append_name(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	put_name(user_data, ((const Cells *)row)->of, terminal, out);
	return LODE_STYLE_STRONG;
}

enum { HAS_INCLUSIVE = 1 };

static const LodeColumn columns[] = {
	{"name", LODE_CELL_TEXT(Cells, name)},
	{.put = put_short_name, .type = "short_name?: string"},
	{"image", LODE_CELL_TEXT(Cells, image), .is_nullable = true},
	{"number", LODE_CELL_NUMBER(Cells, number), .is_nullable = true},
	{"self", LODE_CELL_SHARE(Cells, self), .at = 1},
	{"inclusive", LODE_CELL_SHARE(Cells, inclusive), .is_nullable = true},
	{NULL, LODE_CELL_SHARE(Cells, inclusive), .title = "inclusive", .at = 2,
		.when = HAS_INCLUSIVE},
	{.titled = 1, .append = append_name, .at = 3},
	{"caller", LODE_CELL_NAME(Cells, caller), .is_nullable = true},
	{"file", LODE_CELL_TEXT(Cells, file), .is_nullable = true},
	{"line", LODE_CELL_NUMBER(Cells, line)},
	{"more_callers", LODE_CELL_NUMBER(Cells, n_more)},
};
const LodeColumns lode_top_function_columns = LODE_COLUMNS("top_functions", columns, Cells);

static void fill_cells(size_t number, void *out, const void *user_data)
{
	const LodeTerminal wide = {0};
	const LodeTopFunctions *self = user_data;
	const LodeFunctionCosts *costs = self->functions->costs;
	const Row *row = &g_array_index(self->rows, Row, number);
	g_autoptr(GString) name = g_string_new(NULL);
	Cells *cells = out;

	cells->of = row;
	if (row->family != NULL) {
		lode_call_lines_family(
			name, costs, self->functions->families, row->family, FAMILY_WIDTH, &wide);
		cells->number = (double)NAN;
	} else {
		const LodeFunctionCost *function = lode_function_cost_at(costs, row->function);
		g_string_append(name, function->name);
		cells->function = function->name;
		cells->image = function->image;
		cells->number = row->function;
	}
	cells->name = g_strdup(name->str);
	cells->self = lode_share_of(row->self, self->total);
	cells->inclusive = costs->source != LODE_CALLS_UNKNOWN
	                           ? lode_share_of(row->inclusive, self->total)
	                           : (double)NAN;
	cells->n_more = row->n_more;
	if (row->caller == LODE_NONE)
		return;
	cells->caller = lode_function_cost_at(costs, row->caller)->name;
	cells->file = row->line != NULL ? row->line->file : NULL;
	cells->line = row->line != NULL ? row->line->line : 0;
}

static LodeListing listing_of(const LodeTopFunctions *self)
{
	const LodeProfile *profile = self->functions->costs->profile;
	bool are_graphs = lode_code_of(profile)->images->len > 0 &&
	                  lode_profile_image(profile, 0)->kind == LODE_IMAGE_GRAPHS;

	return (LodeListing){.columns = &lode_top_function_columns,
		.n_rows = self->rows->len,
		.fill = fill_cells,
		.user_data = self,
		.what = self->functions->costs->source != LODE_CALLS_UNKNOWN ? HAS_INCLUSIVE : 0,
		.titles = {are_graphs ? "graph" : "function"}};
}

void lode_top_functions_write(const LodeTopFunctions *self, const LodeTerminal *terminal, FILE *out)
{
	const LodeListing listing = listing_of(self);
	LodeTerminal screen = *terminal;

	/* In a pipe, too. */
	screen.width = terminal->width != 0 ? terminal->width : SCREEN_WIDTH;
	if (self->rows->len > 0) {
		fputc('\n', out);
		lode_listing_write_text(&listing, &screen, out);
	}
	put_notes(self, terminal, out);
}

void lode_top_functions_json(const LodeTopFunctions *self, LodeJsonStream *json)
{
	const LodeTerminal wide = {0};
	char *text = NULL;
	size_t size;
	FILE *notes = open_memstream(&text, &size);
	const LodeListing listing = listing_of(self);

	lode_listing_put_json(&listing, json);
	put_notes(self, &wide, notes);
	fclose(notes);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	lode_json_key(json, "notes");
	lode_json_begin(json, '[');
	for (char **line = lines; *line != NULL; line++)
		if (**line != '\0')
			lode_json_string(json, *line);
	lode_json_end(json, ']');
	free(text);
}
