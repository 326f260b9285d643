/* SPDX-License-Identifier: MIT */
#include "analyses/calls/script_lines.h"
#include "analyses/calls/services.h"
#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "model/index.h"
#include "model/lines/own_lines.h"
#include "model/stacks.h"
#include "views/calls/call_lines.h"
#include "views/figures/profile_figures.h"
#include "views/findings/top_functions.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/table.h"

#include <math.h>
#include <string.h>

enum { SCREEN_WIDTH = 80, MOST_BELOW = 2 };

/* The least share of a line, and of a function of native code in the line. */
#define LEAST_SHARE 0.02
#define LEAST_BELOW 0.1

/* A line is told apart by its file, which is an image: by the number of the function and the line.
 */
typedef struct {
	uint32_t function, line; /* of the costs; of the file */
	double cost;
	const char *below[MOST_BELOW]; /* what it leads to most, that has a name; NULL: nothing */
} Line;

typedef struct {
	const LodeFunctionCosts *costs;
	GHashTable *known; /* function << 32 | line → GHashTable: sums by name_below() */
	GArray *lines;     /* Line */
	double total;
} Lines;

LODE_ORDER(
	compare_lines, Line, LODE_DESCENDING(cost), LODE_ASCENDING(function), LODE_ASCENDING(line))

static void free_table(void *table)
{
	g_hash_table_unref(table);
}

static const LodeFrame *frame_at(const LodeStacks *stacks, uint32_t stack)
{
	return &LODE_AT(stacks->frames, LodeFrame, LODE_AT(stacks->stacks, LodeStack, stack).frame);
}

/* The name by which a function is called below a line of the user's; NULL: it is such a line's
 * itself, or has no name. */
static const char *name_below(const LodeFunctionCost *one)
{
	if ((one->script_line > 0 && !lode_is_toolchain_file(one->image)) ||
		strcmp(one->name, "[unknown]") == 0)
		return NULL;
	g_autofree char *name = lode_service_called_name(one);
	return g_str_has_prefix(name, "fn_") ? NULL : g_intern_string(name);
}

static void add_samples(Lines *self)
{
	const LodeFunctionCosts *costs = self->costs;
	const LodeStacks *stacks = lode_stacks_of(costs->profile);
	g_autofree uint32_t *owners = lode_script_lines_owners(costs);

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event != costs->event || sample->stack == LODE_NONE ||
			owners[sample->stack] == LODE_NONE)
			continue;
		uint32_t owner = owners[sample->stack];
		uint64_t key = (uint64_t)lode_function_costs_at_stack(costs, owner) << 32 |
		               frame_at(stacks, owner)->line;
		GHashTable *table = g_hash_table_lookup(self->known, &key);
		if (table == NULL) {
			table = g_hash_table_new_full(NULL, NULL, NULL, g_free);
			g_hash_table_insert(self->known, g_memdup2(&key, sizeof(key)), table);
		}
		uint32_t function = lode_function_costs_at_stack(costs, sample->stack);
		*lode_sum_at(table,
			name_below(lode_function_cost_at(costs, function))) += sample->weight;
	}
}

static void add_line(Lines *self, uint64_t key, GHashTable *table)
{
	Line line = {.function = (uint32_t)(key >> 32), .line = (uint32_t)key};
	double most[MOST_BELOW] = {0};
	GHashTableIter iterator;
	void *name, *cost;

	g_hash_table_iter_init(&iterator, table);
	while (g_hash_table_iter_next(&iterator, &name, &cost)) {
		double time = *(double *)cost;
		line.cost += time;
		if (name == NULL)
			continue;
		unsigned at = 0;
		while (at < MOST_BELOW &&
			(time < most[at] ||
				(time == most[at] && g_strcmp0(name, line.below[at]) > 0)))
			at++;
		for (unsigned i = MOST_BELOW; i-- > at;) {
			most[i] = i > at ? most[i - 1] : time;
			line.below[i] = i > at ? line.below[i - 1] : name;
		}
	}
	for (unsigned i = 0; i < MOST_BELOW; i++)
		if (most[i] < LEAST_BELOW * line.cost)
			line.below[i] = NULL;
	if (line.cost >= LEAST_SHARE * self->total)
		g_array_append_val(self->lines, line);
}

static void lines_init(Lines *self, const LodeTopFunctions *top, guint n)
{
	const LodeFunctionCosts *costs = top->functions->costs;
	GHashTableIter iterator;
	void *key, *table;

	*self = (Lines){.costs = costs,
		.known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_table),
		.lines = g_array_new(FALSE, FALSE, sizeof(Line)),
		.total = top->total};
	if (costs->source == LODE_CALLS_FROM_STACKS && lode_function_costs_have_scripts(costs))
		add_samples(self);
	g_hash_table_iter_init(&iterator, self->known);
	while (g_hash_table_iter_next(&iterator, &key, &table))
		add_line(self, *(const uint64_t *)key, table);
	g_array_sort(self->lines, compare_lines);
	g_array_set_size(self->lines, MIN(self->lines->len, n));
}

static void lines_clear(Lines *self)
{
	g_hash_table_unref(self->known);
	g_array_unref(self->lines);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Lines, lines_clear)

typedef struct {
	const char *file, *function;
	uint32_t line;
	double share;
	GPtrArray *below;
} Cells;

static LodeStyle append_line(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const Cells *cells = row;

	(void)user_data;
	lode_display_append_line(out, cells->file, cells->line, terminal->is_ascii);
	g_string_append(out, " in ");
	lode_function_name_append(out, cells->function, terminal);
	for (guint i = 0; i < cells->below->len; i++) {
		g_string_append(out, i > 0 ? ", " : ", most in ");
		lode_function_name_append(out, cells->below->pdata[i], terminal);
	}
	lode_display_shorten(out, SCREEN_WIDTH - strlen("100.0 %  "), terminal->is_ascii);
	return LODE_STYLE_STRONG;
}

static const LodeColumn columns[] = {
	{"file", LODE_CELL_TEXT(Cells, file)},
	{"line", LODE_CELL_NUMBER(Cells, line)},
	{"function", LODE_CELL_TEXT(Cells, function)},
	{"share", LODE_CELL_SHARE(Cells, share), .title = "time", .at = 1},
	{"below", LODE_CELL_TEXTS(Cells, below)},
	{.title = "line", .append = append_line, .at = 2},
};
const LodeColumns lode_script_line_columns = LODE_COLUMNS("script_lines", columns, Cells);

static void fill_cells(size_t number, void *out, const void *user_data)
{
	const Lines *self = user_data;
	const Line *line = &g_array_index(self->lines, Line, number);
	const LodeFunctionCost *function = lode_function_cost_at(self->costs, line->function);
	Cells *cells = out;

	*cells = (Cells){function->image, function->name, line->line,
		lode_share_of(line->cost, self->total), g_ptr_array_new()};
	for (unsigned i = 0; i < MOST_BELOW; i++)
		if (line->below[i] != NULL)
			g_ptr_array_add(cells->below, (char *)line->below[i]);
}

static LodeListing listing_of(const Lines *self)
{
	return (LodeListing){.columns = &lode_script_line_columns,
		.n_rows = self->lines->len,
		.fill = fill_cells,
		.user_data = self};
}

void lode_script_lines_write(
	const LodeTopFunctions *top, guint n, const LodeTerminal *terminal, FILE *out)
{
	g_auto(Lines) lines = {0};

	lines_init(&lines, top, n);
	const LodeListing listing = listing_of(&lines);
	if (listing.n_rows == 0)
		return;
	fputc('\n', out);
	lode_listing_write_text(&listing, terminal, out);
}

void lode_script_lines_json(const LodeTopFunctions *top, guint n, LodeJsonStream *json)
{
	g_auto(Lines) lines = {0};

	lines_init(&lines, top, n);
	const LodeListing listing = listing_of(&lines);
	if (listing.n_rows > 0)
		lode_listing_put_json(&listing, json);
}
