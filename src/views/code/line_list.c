/* SPDX-License-Identifier: MIT */
/* Lines of sources: what their instructions cost, and what all costs that they call. */
#include "analyses/calls/function_costs.h"
#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/stacks.h"
#include "views/calls/call_lines.h"
#include "views/code/function_list.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

#include <math.h>
#include <string.h>

enum { TEXT_LIMIT = 50 };

typedef struct {
	const char *file; /* the profile's */
	uint32_t line;
	double self, inclusive; /* inclusive no number: calls are not known */
} Line;

typedef struct {
	const LodeProfile *profile;
	GHashTable *known; /* Line, of `lines` → its number + 1 */
	GPtrArray *lines;  /* Line */
	double total;
} List;

static guint hash_line(const void *key)
{
	const Line *line = key;

	return g_str_hash(line->file) * 31 + line->line;
}

static gboolean is_same_line(const void *a, const void *b)
{
	const Line *left = a, *right = b;

	return left->line == right->line && strcmp(left->file, right->file) == 0;
}

/* Its number, added when it is new; LODE_NONE: it is not known. */
static uint32_t number_of(List *self, const char *file, uint32_t line)
{
	const Line wanted = {.file = file, .line = line};

	if (file == NULL || line == 0)
		return LODE_NONE;
	guint found = GPOINTER_TO_UINT(g_hash_table_lookup(self->known, &wanted));
	if (found > 0)
		return found - 1;
	Line *added = g_memdup2(&wanted, sizeof(wanted));
	added->inclusive = (double)NAN;
	g_ptr_array_add(self->lines, added);
	g_hash_table_insert(self->known, added, GUINT_TO_POINTER(self->lines->len));
	return self->lines->len - 1;
}

static Line *line_at(const List *self, guint i)
{
	return self->lines->pdata[i];
}

static void add_self(List *self, uint32_t event)
{
	const LodeProfile *profile = self->profile;

	for (guint i = 0; i < lode_code_of(profile)->instructions->len && event != LODE_NONE; i++) {
		const LodeInstruction *one = lode_profile_instruction(profile, i);
		if (one->location == LODE_NONE)
			continue;
		const LodeLocation *location = &LODE_AT(
			lode_code_of(profile)->locations, LodeLocation, one->location);
		uint32_t number = number_of(self, location->file, location->line);
		if (number != LODE_NONE)
			line_at(self, number)->self += lode_profile_event_value(profile, event, i);
	}
}

/* A sample counts once for each line that is on its stack. */
static void add_inclusive(List *self, const LodeFunctionCosts *costs)
{
	const LodeStacks *stacks = lode_stacks_of(self->profile);

	if (stacks == NULL || costs->source != LODE_CALLS_FROM_STACKS)
		return;
	g_autofree uint32_t *labels = g_new(uint32_t, MAX(stacks->stacks->len, 1));
	for (guint i = 0; i < stacks->stacks->len; i++) {
		const LodeFrame *frame = &LODE_AT(
			stacks->frames, LodeFrame, LODE_AT(stacks->stacks, LodeStack, i).frame);
		labels[i] = number_of(self, frame->file, frame->line);
	}
	g_autofree LodeStackTotal *totals = lode_function_costs_of_labels(
		costs, labels, self->lines->len);
	for (guint i = 0; totals != NULL && i < self->lines->len; i++)
		line_at(self, i)->inclusive = totals[i].cost;
}

static int compare_lines(const void *a, const void *b)
{
	const Line *left = *(Line *const *)a, *right = *(Line *const *)b;
	double left_cost = isnan(left->inclusive) ? left->self : left->inclusive;
	double right_cost = isnan(right->inclusive) ? right->self : right->inclusive;

	if (left_cost != right_cost)
		return left_cost > right_cost ? -1 : 1;
	int order = strcmp(left->file, right->file);
	return order != 0 ? order : lode_number_order(left->line, right->line);
}

typedef struct {
	const char *file;
	uint32_t line;
	double weight, share, inclusive, inclusive_share;
} Cells;

static LodeStyle append_place(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const Cells *cells = row;

	(void)user_data;
	lode_display_append_line(out, cells->file, cells->line, terminal->is_ascii);
	return LODE_STYLE_STRONG;
}

static const LodeColumn columns[] = {
	{"file", LODE_CELL_TEXT(Cells, file)},
	{"line", LODE_CELL_NUMBER(Cells, line)},
	{"weight", LODE_CELL_NUMBER(Cells, weight)},
	{"share", LODE_CELL_SHARE(Cells, share), .title = "self", .at = 1},
	{"inclusive", LODE_CELL_NUMBER(Cells, inclusive), .is_nullable = true},
	{"inclusive_share", LODE_CELL_SHARE(Cells, inclusive_share), .title = "inclusive", .at = 2,
		.is_nullable = true},
	{.title = "line", .append = append_place, .at = 3},
};
const LodeColumns lode_line_list_columns = LODE_COLUMNS("lines", columns, Cells);

static void fill_cells(size_t i, void *out, const void *user_data)
{
	const List *self = user_data;
	const Line *line = line_at(self, (guint)i);

	*(Cells *)out = (Cells){line->file, line->line, line->self,
		lode_share_of(line->self, self->total), line->inclusive,
		lode_call_lines_share_of(line->inclusive, self->total)};
}

static void drop_costless(List *self)
{
	for (guint i = self->lines->len; i-- > 0;)
		if (!(line_at(self, i)->self > 0) && !(line_at(self, i)->inclusive > 0))
			g_ptr_array_remove_index_fast(self->lines, i);
	g_ptr_array_sort(self->lines, compare_lines);
}

static void write_list(const List *self, const LodeFunctionListOptions *options,
	const LodeFunctionCosts *costs, FILE *out)
{
	guint all = self->lines->len;
	guint limit = options->limit != 0                 ? options->limit
	              : options->format == LODE_VIEW_TEXT ? TEXT_LIMIT
	                                                  : all;
	const LodeListing listing = {.columns = &lode_line_list_columns,
		.n_rows = MIN(limit, all),
		.fill = fill_cells,
		.user_data = self};
	LodeJsonStream json;

	if (options->format == LODE_VIEW_CSV) {
		lode_listing_write_csv(&listing, out);
		return;
	}
	if (options->format == LODE_VIEW_JSON) {
		lode_profile_json_begin(&json, out, self->profile, NULL);
		lode_json_member_string(
			&json, "inclusive_from", lode_call_source_to_text(costs->source));
		lode_listing_put_json(&listing, &json);
		lode_json_end(&json, '}');
		return;
	}
	lode_profile_lines_head_of_functions(
		self->profile, lode_code_of(self->profile)->weight_event, &options->terminal, out);
	lode_call_lines_note(costs, &options->terminal, out);
	fputc('\n', out);
	if (all == 0)
		lode_display_print(&options->terminal, out, "No line is known.");
	else
		lode_listing_write_text(&listing, &options->terminal, out);
	if (listing.n_rows < all)
		lode_display_print(&options->terminal, out,
			"and %u more lines; --limit %u shows all", all - (guint)listing.n_rows,
			all);
}

bool lode_line_list_write(const LodeProfile *profile, uint32_t weight_event,
	const LodeFunctionListOptions *options, FILE *out, GError **error)
{
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, weight_event);
	List self = {.profile = profile,
		.known = g_hash_table_new(hash_line, is_same_line),
		.lines = g_ptr_array_new_with_free_func(g_free),
		.total = lode_profile_event_total(profile, weight_event)};

	add_self(&self, weight_event);
	add_inclusive(&self, costs);
	g_hash_table_remove_all(self.known);
	drop_costless(&self);
	write_list(&self, options, costs, out);
	g_hash_table_unref(self.known);
	g_ptr_array_unref(self.lines);
	return lode_view_flush(out, error);
}
