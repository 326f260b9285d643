/* SPDX-License-Identifier: MIT */
/* Histograms of sampled addresses: every cell as JSON and CSV, runs of cells as text. */
#include "views/memory/memory_histogram.h"

#include "analyses/memory/cells/address_histogram.h"
#include "analyses/memory/cells/cell_contents.h"
#include "analyses/memory/cells/cell_runs.h"
#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "base/text/words.h"
#include "model/memory.h"
#include "model/profile.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/row_stream.h"
#include "views/form/table.h"
#include "views/memory/memory_names.h"
#include "views/memory/memory_notes.h"
#include "views/profile/profile_figures.h"
#include "views/profile/profile_json.h"

#include <math.h>
#include <string.h>

/* The cells of a thread, or of all together: thread LODE_NONE. */
typedef struct {
	const LodeHistogramCell *cells; /* by address */
	size_t n_cells;
	uint64_t n_accesses;
	double weight;
	uint32_t thread;
} LodeHistogramTable;

typedef struct {
	const LodeProfile *profile;
	const LodeMemoryHistogramOptions *options;
	LodeAddressHistogram *histogram;
	LodeCellContents *contents;
	LodeMemoryNotes notes; /* shares are of notes.weight */
	LodeHistogramTable together;
	GArray *threads; /* LodeHistogramTable, by thread */
} Tables;

/* The numbers of a table's cells in the requested order, cut at the limit; GArray of size_t. */
static GArray *sorted_cells(const Tables *self, const LodeHistogramTable *table);

static const char *object_name(const LodeProfile *profile, const LodeContent *content)
{
	const GArray *objects = profile->memory->objects;

	return content->object < objects->len
	               ? LODE_AT(objects, LodeDataObject, content->object).name
	               : NULL;
}

/* NULL where it is unknown; "?" is for the screen. */
static const char *mapping_name(const LodeProfile *profile, const LodeContent *content)
{
	const char *name = lode_content_mapping_name(profile, content);

	return strcmp(name, "?") != 0 ? name : NULL;
}

/* In JSON the thread stands before its cells. */
static void put_thread(const LodeProfile *profile, uint32_t thread, LodeRowStream *rows)
{
	const LodeThread *row = thread < profile->memory->threads->len
	                                ? &LODE_AT(profile->memory->threads, LodeThread, thread)
	                                : NULL;
	g_autofree char *label = row != NULL ? lode_memory_thread_label(profile, thread) : NULL;

	lode_row_csv_text(rows, "thread", label);
	lode_row_csv_number(rows, "pid", row != NULL ? row->pid : (double)NAN);
	lode_row_csv_number(rows, "tid", row != NULL ? row->tid : (double)NAN);
	lode_row_csv_text(rows, "name", row != NULL ? row->name : NULL);
}

/* NULL: the line of titles. */
static void put_cell(const Tables *self, const LodeHistogramCell *cell, LodeRowStream *rows)
{
	const LodeHistogramCell none = {.thread = LODE_NONE};
	LodeContent content = {.object = LODE_NONE};
	char address[LODE_NUMBER_SIZE];
	bool has_cell = cell != NULL;

	cell = has_cell ? cell : &none;
	if (has_cell)
		content = lode_cell_contents_main(self->contents, cell->thread, cell->address);
	lode_row_begin(rows);
	put_thread(self->profile, cell->thread, rows);
	lode_row_text(rows, "address", lode_number_format_address(cell->address, address));
	lode_row_csv_number(rows, "bytes", (double)self->options->granularity);
	lode_row_number(rows, "accesses", (double)cell->n_accesses);
	lode_row_number(rows, "loads", (double)cell->n_loads);
	lode_row_number(rows, "stores", (double)cell->n_stores);
	lode_row_number(rows, "weight", cell->weight);
	lode_row_number(rows, "share", lode_share_of(cell->weight, self->notes.weight));
	lode_function_name_row(
		rows, "object", has_cell ? object_name(self->profile, &content) : NULL);
	lode_row_text(rows, "mapping", has_cell ? mapping_name(self->profile, &content) : NULL);
	lode_row_end(rows);
}

static void put_cells(const Tables *self, const LodeHistogramTable *table, LodeRowStream *rows)
{
	g_autoptr(GArray) order = sorted_cells(self, table);

	for (guint i = 0; i < order->len; i++)
		put_cell(self, &table->cells[g_array_index(order, size_t, i)], rows);
}

/* The members of a table, in an open object. */
static void put_json_table(
	const Tables *self, const LodeHistogramTable *table, LodeJsonStream *json)
{
	LodeRowStream rows;

	lode_row_stream_init_json(&rows, json);
	lode_json_member_number(json, "accesses", (double)table->n_accesses);
	lode_json_member_number(json, "weight", table->weight);
	lode_json_member_number(json, "share", lode_share_of(table->weight, self->notes.weight));
	lode_json_member_number(json, "n_cells", (double)table->n_cells);
	lode_json_member_begin(json, "cells", '[');
	put_cells(self, table, &rows);
	lode_json_end(json, ']');
}

static void put_json_threads(const Tables *self, LodeJsonStream *json)
{
	lode_json_line(json);
	lode_json_member_begin(json, "threads", '[');
	for (guint i = 0; i < self->threads->len; i++) {
		const LodeHistogramTable *table = &LODE_AT(self->threads, LodeHistogramTable, i);
		lode_json_line_begin(json, '{');
		lode_memory_thread_json(json, self->profile, table->thread);
		put_json_table(self, table, json);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void write_json(const Tables *self, FILE *out)
{
	LodeJsonStream json;

	lode_profile_json_open(&json, out, self->profile);
	lode_json_member_number(&json, "granularity", (double)self->options->granularity);
	lode_json_line(&json);
	lode_memory_notes_json(&self->notes, &json);
	if (self->options->scope != LODE_HISTOGRAM_BY_THREAD) {
		lode_json_line(&json);
		lode_json_member_begin(&json, "together", '{');
		put_json_table(self, &self->together, &json);
		lode_json_end(&json, '}');
	}
	if (self->options->scope != LODE_HISTOGRAM_TOGETHER)
		put_json_threads(self, &json);
	lode_json_end(&json, '}');
}

/* Cells of threads, or of all together; never both, which would count all twice. */
static void write_csv(const Tables *self, FILE *out)
{
	LodeRowStream rows;

	lode_row_stream_init_csv(&rows, out);
	put_cell(self, NULL, &rows);
	if (self->options->scope == LODE_HISTOGRAM_TOGETHER) {
		put_cells(self, &self->together, &rows);
		return;
	}
	for (guint i = 0; i < self->threads->len; i++)
		put_cells(self, &LODE_AT(self->threads, LodeHistogramTable, i), &rows);
}

enum {
	LINES_TOGETHER = 15,
	LINES_OF_THREAD = 5,
	THREADS_SHOWN = 8,
	SHAPE_WIDTH = 16,
	CONTENTS_SHOWN = 3,
};

static const double named_share = 0.01; /* of a run's weight; the heaviest is always named */

typedef struct {
	const Tables *tables;
	const LodeHistogramTable *table;
	GArray *runs; /* LodeCellRun, in the order shown */
} Lines;

enum {
	COLUMN_WEIGHT,
	COLUMN_LOADS,
	COLUMN_STORES,
	COLUMN_SHAPE,
	COLUMN_FROM,
	COLUMN_TO,
	COLUMN_CELLS,
	COLUMN_CONTENTS,
	N_COLUMNS,
};

/* The weights of a run in at most SHAPE_WIDTH steps; gives their number. */
static size_t measure_shape(const Lines *self, const LodeCellRun *run, double *steps)
{
	uint64_t granularity = self->tables->options->granularity;
	uint64_t span = lode_cell_run_span(run, granularity);
	size_t n = (size_t)MIN(span, SHAPE_WIDTH);

	for (size_t i = 0; i < n; i++)
		steps[i] = 0;
	for (size_t i = 0; i < run->n_cells; i++) {
		const LodeHistogramCell *cell = &self->table->cells[run->first_cell + i];
		double at = (double)((cell->address - run->first) / granularity);
		size_t step = (size_t)(at * (double)n / (double)span);
		steps[MIN(step, n - 1)] += cell->weight;
	}
	return n;
}

static void append_shape(const Lines *self, const LodeCellRun *run, GString *out)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii_bars[] = {".", ":", "-", "=", "+", "*", "#", "@"};
	const bool is_ascii = self->tables->options->terminal.is_ascii;
	double steps[SHAPE_WIDTH];
	size_t n = measure_shape(self, run, steps);
	double highest = 0;

	for (size_t i = 0; i < n; i++)
		highest = MAX(highest, steps[i]);
	for (size_t i = 0; i < n; i++) {
		int level = highest > 0 ? (int)(steps[i] / highest * 7.999) : 0;
		if (steps[i] <= 0)
			g_string_append_c(out, ' ');
		else
			g_string_append(out, is_ascii ? ascii_bars[level] : bars[level]);
	}
}

static void append_content(
	const Lines *self, const LodeContent *content, double whole, bool has_share, GString *out)
{
	char share[LODE_NUMBER_SIZE];

	lode_function_name_append(out, lode_content_name(self->tables->profile, content),
		&self->tables->options->terminal);
	if (has_share)
		g_string_append_printf(out, " %s",
			lode_number_format_share(lode_share_of(content->weight, whole), share));
}

/* "struct node.next 61.0 %, struct node.key 39.0 % in [heap]". */
static void append_contents(const Lines *self, const LodeCellRun *run, GString *out)
{
	const LodeProfile *profile = self->tables->profile;
	g_autoptr(GArray) contents = lode_cell_contents_between(
		self->tables->contents, run->thread, run->first, run->last);
	guint shown = 1;

	if (contents->len == 0)
		return;
	while (shown < MIN(contents->len, CONTENTS_SHOWN) &&
		LODE_AT(contents, LodeContent, shown).weight >= named_share * run->weight)
		shown++;
	for (guint i = 0; i < shown; i++) {
		g_string_append(out, i > 0 ? ", " : "");
		append_content(self, &LODE_AT(contents, LodeContent, i), run->weight,
			contents->len > 1, out);
	}
	if (contents->len > shown)
		g_string_append_printf(out, ", %u more", contents->len - shown);
	const LodeContent *first = &LODE_AT(contents, LodeContent, 0);
	const char *mapping = lode_content_mapping_name(profile, first);
	if (contents->len > 1 || strcmp(mapping, lode_content_name(profile, first)) != 0) {
		g_string_append(out, " in ");
		lode_display_append(out, mapping, self->tables->options->terminal.is_ascii);
	}
}

static LodeStyle run_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	const Lines *self = user_data;
	const LodeCellRun *run = &LODE_AT(self->runs, LodeCellRun, row);
	char text[LODE_NUMBER_SIZE], address[LODE_NUMBER_SIZE];
	double share = lode_share_of(run->weight, self->tables->notes.weight);

	switch (column) {
	case COLUMN_WEIGHT:
		g_string_append(out, lode_number_format_share(share, text));
		return LODE_STYLE_STRONG;
	case COLUMN_LOADS:
		g_string_append(out, lode_number_format_count((double)run->n_loads, text));
		break;
	case COLUMN_STORES:
		g_string_append(out, lode_number_format_count((double)run->n_stores, text));
		break;
	case COLUMN_SHAPE:
		append_shape(self, run, out);
		break;
	case COLUMN_FROM:
		g_string_append(out, lode_number_format_address(run->first, address));
		break;
	case COLUMN_TO:
		g_string_append(out, lode_number_format_address(run->last, address));
		return LODE_STYLE_FAINT;
	case COLUMN_CELLS:
		g_string_append(out,
			lode_number_format_count(
				(double)lode_cell_run_span(run, self->tables->options->granularity),
				text));
		break;
	default:
		append_contents(self, run, out);
		return LODE_STYLE_NAME;
	}
	return LODE_STYLE_PLAIN;
}

static double run_key(const LodeCellRun *run, LodeHistogramSort sort)
{
	switch (sort) {
	case LODE_HISTOGRAM_BY_LOADS:
		return (double)run->n_loads;
	case LODE_HISTOGRAM_BY_STORES:
		return (double)run->n_stores;
	case LODE_HISTOGRAM_BY_WEIGHT:
		return run->weight;
	case LODE_HISTOGRAM_BY_ADDRESS:
		break;
	}
	return 0;
}

static int compare_runs(const void *a, const void *b, void *user_data)
{
	const LodeCellRun *left = a, *right = b;
	const LodeHistogramSort *sort = user_data;
	double left_key = run_key(left, *sort), right_key = run_key(right, *sort);

	if (left_key != right_key)
		return left_key > right_key ? -1 : 1;
	return (left->first > right->first) - (left->first < right->first);
}

static void put_rest(const Lines *self, guint shown, FILE *out)
{
	double weight = 0;
	char share[LODE_NUMBER_SIZE], number[LODE_NUMBER_SIZE];

	if (shown >= self->runs->len)
		return;
	for (guint i = shown; i < self->runs->len; i++)
		weight += LODE_AT(self->runs, LodeCellRun, i).weight;
	lode_display_print(&self->tables->options->terminal, out,
		"%s more, %s of weight: --top 0 shows all.",
		lode_number_format_count(self->runs->len - shown, number),
		lode_number_format_share(lode_share_of(weight, self->tables->notes.weight), share));
}

static void put_table(
	const Tables *self, const LodeHistogramTable *table, guint default_limit, FILE *out)
{
	const LodeMemoryHistogramOptions *options = self->options;
	g_autofree char *cells = g_strdup_printf(
		"%ss", lode_address_granularity_name(options->granularity));
	const LodeTableColumn columns[N_COLUMNS] = {
		{"weight"},
		{"loads"},
		{"stores"},
		{"shape", .is_text = true, .dropped = 2},
		{"from", .is_text = true},
		{"to", .is_text = true, .dropped = 3},
		{cells, .dropped = 1},
		{"object, mapping", .is_text = true},
	};
	g_autoptr(GArray) runs = lode_cell_runs_find(self->profile, table->cells, table->n_cells,
		self->contents, options->granularity, self->notes.weight);
	Lines lines = {self, table, runs};
	LodeHistogramSort sort = options->sort;

	g_array_sort_with_data(runs, compare_runs, &sort);
	guint limit = options->has_limit ? options->limit : default_limit;
	guint shown = limit == 0 ? runs->len : MIN(limit, runs->len);
	LodeTable view = {columns, N_COLUMNS, shown, run_cell, &lines};
	lode_table_write(&view, &options->terminal, out);
	put_rest(&lines, shown, out);
}

static void put_title(
	const Tables *self, const char *name, const LodeHistogramTable *table, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	char share[LODE_NUMBER_SIZE], accesses[LODE_NUMBER_SIZE], cells[LODE_NUMBER_SIZE];
	g_autofree char *plain = lode_display_text(name, terminal->is_ascii);
	g_autofree char *rest = g_strdup_printf(": %s of weight, %s sampled access%s, %s %s%s",
		lode_number_format_share(lode_share_of(table->weight, self->notes.weight), share),
		lode_number_format_count((double)table->n_accesses, accesses),
		table->n_accesses == 1 ? "" : "es",
		lode_number_format_count((double)table->n_cells, cells),
		lode_address_granularity_name(self->options->granularity),
		table->n_cells == 1 ? "" : "s");

	fputc('\n', out);
	lode_style_write(out, terminal, LODE_STYLE_STRONG, plain);
	fprintf(out, "%s\n", rest);
}

/* Heaviest first, and equal ones by number. */
LODE_ORDER(compare_tables, LodeHistogramTable, LODE_DESCENDING(weight), LODE_ASCENDING(thread))

static void put_threads(const Tables *self, FILE *out)
{
	const bool is_overview = self->options->scope == LODE_HISTOGRAM_OVERVIEW;
	g_autoptr(GArray) threads = g_array_copy(self->threads);
	guint shown = is_overview ? MIN(threads->len, THREADS_SHOWN) : threads->len;

	if (is_overview)
		g_array_sort(threads, compare_tables);
	for (guint i = 0; i < shown; i++) {
		const LodeHistogramTable *table = &LODE_AT(threads, LodeHistogramTable, i);
		g_autofree char *name = lode_memory_thread_name(self->profile, table->thread);
		name[0] = g_ascii_toupper(name[0]);
		put_title(self, name, table, out);
		put_table(self, table, LINES_OF_THREAD, out);
	}
	if (shown < threads->len)
		fprintf(out, "\n%u more threads: --by-thread shows all.\n", threads->len - shown);
}

static void put_head(const Tables *self, FILE *out)
{
	char size[LODE_NUMBER_SIZE];
	const char *program = self->profile->program;

	lode_display_print(&self->options->terminal, out, "%s · %s by %s of %s · weight: %s",
		program != NULL ? program : "?",
		self->notes.is_stall_weighted ? "time" : "accesses",
		lode_address_granularity_name(self->options->granularity),
		lode_number_format_bytes(self->options->granularity, size),
		self->notes.n_events > 0 ? self->notes.event_names : "none");
	lode_memory_notes_head(&self->notes, &self->options->terminal, out);
}

/* A lone thread is all of them. */
static bool shows_together(const Tables *self)
{
	if (self->options->scope == LODE_HISTOGRAM_OVERVIEW)
		return self->threads->len > 1;
	return self->options->scope == LODE_HISTOGRAM_TOGETHER;
}

static void write_text(const Tables *self, FILE *out)
{
	put_head(self, out);
	if (self->together.n_cells == 0) {
		fputs("\nNo sample with a data address.\n", out);
	} else {
		if (shows_together(self)) {
			put_title(self, "All threads", &self->together, out);
			put_table(self, &self->together, LINES_TOGETHER, out);
		}
		if (self->options->scope != LODE_HISTOGRAM_TOGETHER)
			put_threads(self, out);
	}
	fputc('\n', out);
	lode_memory_notes_text(&self->notes, &self->options->terminal, out);
}

void lode_memory_histogram_options_init(LodeMemoryHistogramOptions *self)
{
	*self = (LodeMemoryHistogramOptions){.granularity = LODE_PAGE_BYTES};
}

bool lode_histogram_sort_from_text(const char *text, LodeHistogramSort *out_sort)
{
	static const char *const words[] = {"weight", "loads", "stores", "address"};
	int found = lode_word_find(words, G_N_ELEMENTS(words), text);

	if (found >= 0)
		*out_sort = (LodeHistogramSort)found;
	return found >= 0;
}

static void add_sums(LodeHistogramTable *table)
{
	for (size_t i = 0; i < table->n_cells; i++) {
		table->n_accesses += table->cells[i].n_accesses;
		table->weight += table->cells[i].weight;
	}
}

static void find_threads(Tables *self)
{
	size_t n;
	const LodeHistogramCell *cells = lode_address_histogram_cells(self->histogram, &n);

	for (size_t start = 0, end; start < n; start = end) {
		for (end = start + 1; end < n && cells[end].thread == cells[start].thread;)
			end++;
		LodeHistogramTable table = {.cells = cells + start,
			.n_cells = end - start,
			.thread = cells[start].thread};
		add_sums(&table);
		g_array_append_val(self->threads, table);
	}
}

static void tables_init(Tables *self, const uint32_t *samples, size_t n_samples)
{
	uint64_t granularity = self->options->granularity;

	lode_memory_notes_init(&self->notes, self->profile, samples, n_samples);
	self->histogram = lode_address_histogram_new(granularity);
	lode_address_histogram_add_samples(self->histogram, self->profile, samples, n_samples);
	self->contents = lode_cell_contents_new(self->profile, samples, n_samples, granularity);
	self->threads = g_array_new(FALSE, FALSE, sizeof(LodeHistogramTable));
	self->together.thread = LODE_NONE;
	self->together.cells = lode_address_histogram_totals(
		self->histogram, &self->together.n_cells);
	add_sums(&self->together);
	find_threads(self);
}

static void tables_clear(Tables *self)
{
	g_array_unref(self->threads);
	lode_cell_contents_free(self->contents);
	lode_address_histogram_free(self->histogram);
	lode_memory_notes_clear(&self->notes);
}

typedef struct {
	const LodeHistogramCell *cells;
	LodeHistogramSort sort;
} Order;

static double key_of(const Order *order, size_t index)
{
	const LodeHistogramCell *cell = &order->cells[index];

	switch (order->sort) {
	case LODE_HISTOGRAM_BY_LOADS:
		return (double)cell->n_loads;
	case LODE_HISTOGRAM_BY_STORES:
		return (double)cell->n_stores;
	case LODE_HISTOGRAM_BY_WEIGHT:
		return cell->weight;
	case LODE_HISTOGRAM_BY_ADDRESS:
		break;
	}
	return 0;
}

/* The largest first, and equal ones by address. */
static int compare_cells(const void *a, const void *b, void *user_data)
{
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	double left_key = key_of(user_data, left), right_key = key_of(user_data, right);

	if (left_key != right_key)
		return left_key > right_key ? -1 : 1;
	return (left > right) - (left < right);
}

static GArray *sorted_cells(const Tables *self, const LodeHistogramTable *table)
{
	GArray *numbers = g_array_sized_new(FALSE, FALSE, sizeof(size_t), (guint)table->n_cells);
	Order order = {table->cells, self->options->sort};

	for (size_t i = 0; i < table->n_cells; i++)
		g_array_append_val(numbers, i);
	g_array_sort_with_data(numbers, compare_cells, &order);
	if (self->options->has_limit && self->options->limit != 0)
		g_array_set_size(numbers, MIN(numbers->len, self->options->limit));
	return numbers;
}

bool lode_memory_histogram_write(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeMemoryHistogramOptions *options, FILE *out, GError **error)
{
	Tables tables = {.profile = profile, .options = options};

	tables_init(&tables, samples, n_samples);
	if (options->format == LODE_VIEW_TEXT)
		write_text(&tables, out);
	else if (options->format == LODE_VIEW_JSON)
		write_json(&tables, out);
	else
		write_csv(&tables, out);
	tables_clear(&tables);
	return lode_view_flush(out, error);
}
