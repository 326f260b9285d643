/* SPDX-License-Identifier: MIT */
/* Counts the samples, finds the cells of each thread, and writes the form asked for. */
#include "views/memory_histogram.h"

#include "views/memory_histogram_tables.h"

#include <string.h>

void lode_memory_histogram_options_init(LodeMemoryHistogramOptions *self)
{
	*self = (LodeMemoryHistogramOptions){.granularity = LODE_PAGE_BYTES};
}

bool lode_histogram_sort_from_text(const char *text, LodeHistogramSort *out_sort)
{
	static const char *const words[] = {"weight", "loads", "stores", "address"};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		if (strcmp(words[i], text) == 0) {
			*out_sort = (LodeHistogramSort)i;
			return true;
		}
	}
	return false;
}

static void add_sums(LodeHistogramTable *table)
{
	for (size_t i = 0; i < table->n_cells; i++) {
		table->n_accesses += table->cells[i].n_accesses;
		table->weight += table->cells[i].weight;
	}
}

static void find_threads(LodeHistogramTables *self)
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

static void tables_init(LodeHistogramTables *self, const uint32_t *samples, size_t n_samples)
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

static void tables_clear(LodeHistogramTables *self)
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

/* Largest first, and by address what is equal. */
static int compare_cells(const void *a, const void *b, void *user_data)
{
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	double left_key = key_of(user_data, left), right_key = key_of(user_data, right);

	if (left_key != right_key)
		return left_key > right_key ? -1 : 1;
	return (left > right) - (left < right);
}

GArray *lode_histogram_sorted_cells(
	const LodeHistogramTables *self, const LodeHistogramTable *table)
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
	LodeHistogramTables tables = {.profile = profile, .options = options};

	tables_init(&tables, samples, n_samples);
	switch (options->format) {
	case LODE_VIEW_TEXT:
		lode_memory_histogram_text(&tables, out);
		break;
	case LODE_VIEW_JSON:
		lode_memory_histogram_json(&tables, out);
		break;
	case LODE_VIEW_CSV:
		lode_memory_histogram_csv(&tables, out);
		break;
	}
	tables_clear(&tables);
	return lode_view_flush(out, error);
}
