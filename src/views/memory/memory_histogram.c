/* SPDX-License-Identifier: MIT */
/* Histograms of sampled addresses: every cell as JSON and CSV, runs of cells as text. */
#include "views/memory/memory_views.h"

#include "analyses/memory/cells/address_histogram.h"
#include "analyses/memory/cells/cell_contents.h"
#include "analyses/memory/cells/cell_runs.h"
#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "base/text/words.h"
#include "model/index.h"
#include "model/memory.h"
#include "model/run/program_run.h"
#include "views/figures/profile_figures.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/memory/memory_names.h"
#include "views/memory/memory_notes.h"
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

/* A table with the order in which it is shown. */
typedef struct {
	const Tables *tables;
	const LodeHistogramTable *table;
	GPtrArray *cells; /* const LodeHistogramCell *; JSON and CSV */
	GArray *runs;     /* LodeCellRun; text */
} Lines;

static double key_of(LodeHistogramSort sort, uint64_t n_loads, uint64_t n_stores, double weight)
{
	switch (sort) {
	case LODE_HISTOGRAM_BY_LOADS:
		return (double)n_loads;
	case LODE_HISTOGRAM_BY_STORES:
		return (double)n_stores;
	case LODE_HISTOGRAM_BY_WEIGHT:
		return weight;
	case LODE_HISTOGRAM_BY_ADDRESS:
		break;
	}
	return 0;
}

/* The largest first, and equal ones by address. */
static int compare_keys(double left_key, uint64_t left, double right_key, uint64_t right)
{
	if (left_key != right_key)
		return left_key > right_key ? -1 : 1;
	return (left > right) - (left < right);
}

static int compare_cells(const void *a, const void *b, void *user_data)
{
	const LodeHistogramCell *left = *(void *const *)a, *right = *(void *const *)b;
	LodeHistogramSort sort = *(const LodeHistogramSort *)user_data;

	return compare_keys(key_of(sort, left->n_loads, left->n_stores, left->weight),
		left->address, key_of(sort, right->n_loads, right->n_stores, right->weight),
		right->address);
}

static int compare_runs(const void *a, const void *b, void *user_data)
{
	const LodeCellRun *left = a, *right = b;
	LodeHistogramSort sort = *(const LodeHistogramSort *)user_data;

	return compare_keys(key_of(sort, left->n_loads, left->n_stores, left->weight), left->first,
		key_of(sort, right->n_loads, right->n_stores, right->weight), right->first);
}

/* A table's cells in the requested order, cut at the limit. */
static GPtrArray *sorted_cells(const Tables *self, const LodeHistogramTable *table)
{
	GPtrArray *cells = g_ptr_array_sized_new((guint)table->n_cells);
	LodeHistogramSort sort = self->options->sort;

	for (size_t i = 0; i < table->n_cells; i++)
		g_ptr_array_add(cells, (void *)&table->cells[i]);
	g_ptr_array_sort_with_data(cells, compare_cells, &sort);
	if (self->options->has_limit && self->options->limit != 0)
		g_ptr_array_set_size(cells, (int)MIN(cells->len, self->options->limit));
	return cells;
}

typedef struct {
	LodeHistogramCell of;
	uint64_t bytes;
	double share;
	char *thread; /* NULL: all of them */
	const char *name;
	double pid, tid;
	const char *object, *mapping;
} Cell;

static const LodeColumn cell_columns[] = {
	/* In JSON the thread stands before its cells. */
	{"thread", LODE_CELL_TEXT(Cell, thread), .only = LODE_IN_CSV},
	{"pid", LODE_CELL_NUMBER(Cell, pid), .only = LODE_IN_CSV},
	{"tid", LODE_CELL_NUMBER(Cell, tid), .only = LODE_IN_CSV},
	{"name", LODE_CELL_TEXT(Cell, name), .only = LODE_IN_CSV},
	{"address", LODE_CELL_ADDRESS(Cell, of.address)},
	{"bytes", LODE_CELL_NUMBER(Cell, bytes), .only = LODE_IN_CSV},
	{"accesses", LODE_CELL_NUMBER(Cell, of.n_accesses)},
	{"loads", LODE_CELL_NUMBER(Cell, of.n_loads)},
	{"stores", LODE_CELL_NUMBER(Cell, of.n_stores)},
	{"weight", LODE_CELL_NUMBER(Cell, of.weight)},
	{"share", LODE_CELL_SHARE(Cell, share)},
	{"object", LODE_CELL_NAME(Cell, object)},
	{"mapping", LODE_CELL_TEXT(Cell, mapping)},
};
const LodeColumns lode_histogram_cell_columns = LODE_COLUMNS("cells", cell_columns, Cell);

static void fill_cell(size_t number, void *out, const void *user_data)
{
	const Lines *lines = user_data;
	const Tables *self = lines->tables;
	const LodeMemory *memory = lode_memory_of(self->profile);
	const LodeHistogramCell *of = lines->cells->pdata[number];
	LodeContent content = lode_cell_contents_main(self->contents, of->thread, of->address);
	const char *mapping = lode_content_mapping_name(self->profile, &content);
	const LodeThread *thread = of->thread < memory->threads->len
	                                   ? &LODE_AT(memory->threads, LodeThread, of->thread)
	                                   : NULL;

	*(Cell *)out = (Cell){
		.of = *of,
		.bytes = self->options->granularity,
		.share = lode_share_of(of->weight, self->notes.weight),
		.thread = thread != NULL ? lode_memory_thread_label(self->profile, of->thread)
	                                 : NULL,
		.name = thread != NULL ? thread->name : NULL,
		.pid = thread != NULL ? thread->pid : (double)NAN,
		.tid = thread != NULL ? thread->tid : (double)NAN,
		.object = lode_memory_object_name(memory, content.object),
		/* "?" is for the screen. */
		.mapping = strcmp(mapping, "?") != 0 ? mapping : NULL,
	};
}

/* In JSON as a member of the open object, in CSV where that is NULL. */
static void put_cells(
	const Tables *self, const LodeHistogramTable *table, LodeJsonStream *json, FILE *out)
{
	g_autoptr(GPtrArray) cells = sorted_cells(self, table);
	const Lines lines = {self, table, .cells = cells};
	const LodeListing listing = {
		&lode_histogram_cell_columns, cells->len, .fill = fill_cell, .user_data = &lines};

	if (json != NULL)
		lode_listing_put_json(&listing, json);
	else
		lode_listing_put_csv_rows(&listing, out);
}

/* The members of a table, in an open object. */
static void put_json_table(
	const Tables *self, const LodeHistogramTable *table, LodeJsonStream *json)
{
	lode_json_member_number(json, "accesses", (double)table->n_accesses);
	lode_json_member_number(json, "weight", table->weight);
	lode_json_member_number(json, "share", lode_share_of(table->weight, self->notes.weight));
	lode_json_member_number(json, "n_cells", (double)table->n_cells);
	put_cells(self, table, json, NULL);
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
	lode_listing_put_csv_titles(&(LodeListing){&lode_histogram_cell_columns}, out);
	if (self->options->scope == LODE_HISTOGRAM_TOGETHER) {
		put_cells(self, &self->together, NULL, out);
		return;
	}
	for (guint i = 0; i < self->threads->len; i++)
		put_cells(self, &LODE_AT(self->threads, LodeHistogramTable, i), NULL, out);
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
	LodeCellRun of;
	double share;
	uint64_t n_cells;
} Run;

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

static LodeStyle append_shape(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii_bars[] = {".", ":", "-", "=", "+", "*", "#", "@"};
	double steps[SHAPE_WIDTH];
	size_t n = measure_shape(user_data, &((const Run *)row)->of, steps);
	double highest = 0;

	for (size_t i = 0; i < n; i++)
		highest = MAX(highest, steps[i]);
	for (size_t i = 0; i < n; i++) {
		int level = highest > 0 ? (int)(steps[i] / highest * 7.999) : 0;
		if (steps[i] <= 0)
			g_string_append_c(out, ' ');
		else
			g_string_append(out, terminal->is_ascii ? ascii_bars[level] : bars[level]);
	}
	return LODE_STYLE_PLAIN;
}

/* "struct node.next 61.0 %, struct node.key 39.0 % in [heap]". */
static LodeStyle append_contents(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const Tables *self = ((const Lines *)user_data)->tables;
	const LodeCellRun *run = &((const Run *)row)->of;
	g_autoptr(GArray) contents = lode_cell_contents_between(
		self->contents, run->thread, run->first, run->last);
	guint shown = 1;

	if (contents->len == 0)
		return LODE_STYLE_NAME;
	while (shown < MIN(contents->len, CONTENTS_SHOWN) &&
		LODE_AT(contents, LodeContent, shown).weight >= named_share * run->weight)
		shown++;
	for (guint i = 0; i < shown; i++) {
		const LodeContent *content = &LODE_AT(contents, LodeContent, i);
		g_string_append(out, i > 0 ? ", " : "");
		lode_function_name_append(out, lode_content_name(self->profile, content), terminal);
		if (contents->len > 1)
			g_string_append_printf(out, " %s",
				LODE_SHARE_TEXT(lode_share_of(content->weight, run->weight)));
	}
	if (contents->len > shown)
		g_string_append_printf(out, ", %u more", contents->len - shown);
	const LodeContent *first = &LODE_AT(contents, LodeContent, 0);
	const char *mapping = lode_content_mapping_name(self->profile, first);
	if (contents->len > 1 || strcmp(mapping, lode_content_name(self->profile, first)) != 0) {
		g_string_append(out, " in ");
		lode_display_append(out, mapping, terminal->is_ascii);
	}
	return LODE_STYLE_NAME;
}

static const LodeColumn run_columns[] = {
	{NULL, LODE_CELL_SHARE(Run, share), .title = "weight", .at = 1, .style = LODE_STYLE_STRONG},
	{NULL, LODE_CELL_COUNT(Run, of.n_loads), .title = "loads", .at = 2},
	{NULL, LODE_CELL_COUNT(Run, of.n_stores), .title = "stores", .at = 3},
	{.title = "shape", .append = append_shape, .at = 4, .dropped = 2},
	{NULL, LODE_CELL_ADDRESS(Run, of.first), .title = "from", .at = 5},
	{NULL, LODE_CELL_ADDRESS(Run, of.last), .title = "to", .at = 6, .dropped = 3,
		.style = LODE_STYLE_FAINT},
	{NULL, LODE_CELL_COUNT(Run, n_cells), .titled = 1, .at = 7, .dropped = 1},
	{.title = "object, mapping", .append = append_contents, .at = 8},
};
const LodeColumns lode_cell_run_columns = LODE_COLUMNS("runs", run_columns, Run);

static void fill_run(size_t number, void *out, const void *user_data)
{
	const Lines *self = user_data;
	const LodeCellRun *of = &LODE_AT(self->runs, LodeCellRun, number);

	*(Run *)out = (Run){*of, lode_share_of(of->weight, self->tables->notes.weight),
		lode_cell_run_span(of, self->tables->options->granularity)};
}

static void put_rest(const Lines *self, guint shown, FILE *out)
{
	double weight = 0;

	if (shown >= self->runs->len)
		return;
	for (guint i = shown; i < self->runs->len; i++)
		weight += LODE_AT(self->runs, LodeCellRun, i).weight;
	lode_display_print(&self->tables->options->terminal, out,
		"%s more, %s of weight: --top 0 shows all.",
		LODE_COUNT_TEXT(self->runs->len - shown),
		LODE_SHARE_TEXT(lode_share_of(weight, self->tables->notes.weight)));
}

static void put_table(
	const Tables *self, const LodeHistogramTable *table, guint default_limit, FILE *out)
{
	const LodeMemoryHistogramOptions *options = self->options;
	g_autofree char *cells = g_strdup_printf(
		"%ss", lode_address_granularity_name(options->granularity));
	g_autoptr(GArray) runs = lode_cell_runs_find(self->profile, table->cells, table->n_cells,
		self->contents, options->granularity, self->notes.weight);
	const Lines lines = {self, table, .runs = runs};
	LodeHistogramSort sort = options->sort;

	g_array_sort_with_data(runs, compare_runs, &sort);
	guint limit = options->has_limit ? options->limit : default_limit;
	guint shown = limit == 0 ? runs->len : MIN(limit, runs->len);
	const LodeListing listing = {&lode_cell_run_columns, shown, .fill = fill_run,
		.user_data = &lines, .titles = {cells}};
	lode_listing_write_text(&listing, &options->terminal, out);
	put_rest(&lines, shown, out);
}

static void put_title(
	const Tables *self, const char *name, const LodeHistogramTable *table, FILE *out)
{
	const LodeTerminal *terminal = &self->options->terminal;
	g_autofree char *plain = lode_display_text(name, terminal->is_ascii);
	g_autofree char *rest = g_strdup_printf(": %s of weight, %s sampled access%s, %s %s%s",
		LODE_SHARE_TEXT(lode_share_of(table->weight, self->notes.weight)),
		LODE_COUNT_TEXT(table->n_accesses), table->n_accesses == 1 ? "" : "es",
		LODE_COUNT_TEXT(table->n_cells),
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
	const char *program = lode_program_run_of(self->profile)->program;

	lode_display_print(&self->options->terminal, out, "%s · %s by %s of %s · weight: %s",
		program != NULL ? program : "?",
		self->notes.is_stall_weighted ? "time" : "accesses",
		lode_address_granularity_name(self->options->granularity),
		LODE_BYTES_TEXT(self->options->granularity),
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
