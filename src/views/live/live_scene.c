/* SPDX-License-Identifier: MIT */
#include "views/live/live_scene.h"

#include "base/arrays/sort_order.h"
#include "views/live/live_counts.h"
#include "views/live/live_state.h"

/* Further threads appear only in the row of all. */
enum { MAX_ROWS = 1000 };

static double measure_of(const LodeLiveCell *cell, LodeLiveMeasure measure)
{
	switch (measure) {
	case LODE_LIVE_LOADS:
		return (double)cell->n_loads;
	case LODE_LIVE_STORES:
		return (double)cell->n_stores;
	default:
		return cell->weight;
	}
}

/* A script starts many processes that are never sampled. */
static bool is_seen_thread(const LodeLiveScene *self, const LodeLiveState *state, uint32_t thread)
{
	if (thread >= self->known_threads->len ||
		g_array_index(self->known_threads, LodeLiveThread, thread).n_samples == 0)
		return false;
	return !state->only_tagged ||
	       g_hash_table_contains(state->tagged, GUINT_TO_POINTER(thread));
}

LODE_ORDER_OF_POINTERS(compare_cells, LodeLiveCell, LODE_ASCENDING(address), LODE_ASCENDING(thread))

/* The cells in view, by address; the others count in the total only. */
static GPtrArray *choose_cells(
	LodeLiveScene *self, const LodeLiveCounts *counts, const LodeLiveState *state)
{
	GPtrArray *chosen = g_ptr_array_sized_new(g_hash_table_size(counts->cells));
	GHashTableIter iterator;
	void *key;

	g_hash_table_iter_init(&iterator, counts->cells);
	while (g_hash_table_iter_next(&iterator, &key, NULL)) {
		const LodeLiveCell *cell = key;
		double measure = measure_of(cell, state->measure);
		self->total += measure;
		if (measure <= 0 || cell->address < self->zoom.start ||
			cell->address >= self->zoom.end ||
			!is_seen_thread(self, state, cell->thread))
			continue;
		self->seen += measure;
		g_ptr_array_add(chosen, key);
	}
	g_ptr_array_sort(chosen, compare_cells);
	return chosen;
}

static void make_columns(LodeLiveScene *self, const GPtrArray *cells, const LodeLiveRoom *room)
{
	g_autoptr(GArray) touched = g_array_new(FALSE, FALSE, sizeof(LodeLiveTouch));
	const LodeLiveColumnOptions options = {
		.granularity = self->granularity,
		.start = self->zoom.start,
		.end = self->zoom.end,
		.n_places = MAX(room->n_places, 1),
	};
	uint64_t last = UINT64_MAX;

	for (guint i = 0; i < cells->len; i++) {
		const LodeLiveCell *cell = cells->pdata[i];
		const LodeLiveTouch touch = {
			.address = cell->address & ~(self->granularity - 1),
			.mapping = cell->mapping,
		};
		if (touch.address != last)
			g_array_append_val(touched, touch);
		last = touch.address;
	}
	lode_live_columns_init(
		&self->columns, (const LodeLiveTouch *)touched->data, touched->len, &options);
}

static void add_row(LodeLiveScene *self, uint32_t thread)
{
	const LodeLiveRow row = {
		.thread = thread,
		.columns = g_new0(double, self->columns.columns->len),
	};

	g_array_append_val(self->rows, row);
}

/* The rows by thread, of those that have ended last: *out_row_of, which the caller frees, has
 * UINT32_MAX for one without. */
static void make_rows(LodeLiveScene *self, const LodeLiveState *state, uint32_t **out_row_of)
{
	guint n = self->known_threads->len, n_seen = 0;
	uint32_t *row_of = g_new(uint32_t, n + 1);

	for (guint i = 0; i < n; i++)
		n_seen += is_seen_thread(self, state, i);
	if (n_seen > 1)
		add_row(self, UINT32_MAX);
	for (guint i = 0; i < 2 * n; i++) {
		guint thread = i % n;
		bool has_ended =
			g_array_index(self->known_threads, LodeLiveThread, thread).has_ended;
		if (i < n)
			row_of[thread] = UINT32_MAX;
		if (has_ended != (i >= n) || !is_seen_thread(self, state, thread) ||
			self->rows->len >= MAX_ROWS)
			continue;
		row_of[thread] = self->rows->len;
		add_row(self, thread);
	}
	*out_row_of = row_of;
}

static void fill_row(LodeLiveScene *self, guint number, int column, double measure)
{
	LodeLiveRow *row = &g_array_index(self->rows, LodeLiveRow, number);

	row->sum += measure;
	row->columns[column] += measure;
	/* The row of all threads would be the hottest everywhere, and make the others faint. */
	if (row->thread != UINT32_MAX)
		self->hottest = MAX(self->hottest, row->columns[column]);
}

static void fill_rows(LodeLiveScene *self, const GPtrArray *cells, const LodeLiveState *state)
{
	g_autofree uint32_t *row_of = NULL;

	make_rows(self, state, &row_of);
	bool has_all = self->rows->len > 0 &&
	               g_array_index(self->rows, LodeLiveRow, 0).thread == UINT32_MAX;
	for (guint i = 0; i < cells->len; i++) {
		const LodeLiveCell *cell = cells->pdata[i];
		double measure = measure_of(cell, state->measure);
		int column = lode_live_columns_find(&self->columns, cell->address);
		if (row_of[cell->thread] != UINT32_MAX)
			fill_row(self, row_of[cell->thread], column, measure);
		if (has_all)
			fill_row(self, 0, column, measure);
	}
}

static void add_thread(LodeHotRange *range, uint32_t thread)
{
	guint n_kept = MIN(range->n_threads, LODE_LIVE_THREADS_OF_RANGE);

	for (guint i = 0; i < n_kept; i++)
		if (range->threads[i] == thread)
			return;
	if (n_kept < LODE_LIVE_THREADS_OF_RANGE)
		range->threads[n_kept] = thread;
	/* One more than are kept says that there are more. */
	range->n_threads = n_kept + 1;
}

LODE_ORDER(compare_ranges, LodeHotRange, LODE_DESCENDING(measure), LODE_ASCENDING(address))

static void add_to_range(LodeHotRange *range, const LodeLiveCell *cell, double measure)
{
	range->n_loads += cell->n_loads;
	range->n_stores += cell->n_stores;
	range->measure += measure;
	add_thread(range, cell->thread);
	lode_live_vote(&range->function, &range->votes, cell->function, cell->votes);
	lode_live_vote(&range->object, &range->object_votes, cell->object, cell->object_votes);
}

static void make_ranges(LodeLiveScene *self, const GPtrArray *cells, const LodeLiveState *state)
{
	LodeHotRange *range = NULL;

	for (guint i = 0; i < cells->len; i++) {
		const LodeLiveCell *cell = cells->pdata[i];
		uint64_t address = cell->address & ~(self->granularity - 1);
		if (range == NULL || range->address != address) {
			const LodeHotRange next = {.address = address};
			g_array_append_val(self->ranges, next);
			range = &g_array_index(self->ranges, LodeHotRange, self->ranges->len - 1);
		}
		add_to_range(range, cell, measure_of(cell, state->measure));
	}
	g_array_sort(self->ranges, compare_ranges);
}

static void clear_row(void *data)
{
	g_free(((LodeLiveRow *)data)->columns);
}

void lode_live_scene_init(LodeLiveScene *self, const LodeLiveCounts *counts, GArray *threads,
	const LodeLiveState *state, const LodeLiveRoom *room)
{
	*self = (LodeLiveScene){
		.rows = g_array_new(FALSE, FALSE, sizeof(LodeLiveRow)),
		.ranges = g_array_new(FALSE, FALSE, sizeof(LodeHotRange)),
		.known_threads = threads,
		.granularity = MAX(state->granularity, counts->unit),
		.zoom = {0, UINT64_MAX},
		.n_visible_rows = room->n_rows,
		.n_visible_ranges = room->n_ranges,
	};
	g_array_set_clear_func(self->rows, clear_row);
	if (state->zooms->len > 0)
		self->zoom = g_array_index(state->zooms, LodeLiveZoom, state->zooms->len - 1);
	g_autoptr(GPtrArray) cells = choose_cells(self, counts, state);
	make_columns(self, cells, room);
	fill_rows(self, cells, state);
	make_ranges(self, cells, state);
	self->cursor_column = lode_live_columns_find(&self->columns, state->cursor);
}

void lode_live_scene_clear(LodeLiveScene *self)
{
	g_clear_pointer(&self->rows, g_array_unref);
	g_clear_pointer(&self->ranges, g_array_unref);
	lode_live_columns_clear(&self->columns);
}
