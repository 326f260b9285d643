/* SPDX-License-Identifier: MIT */
/* The samples of a plot counted into boxes. */
#include "views/plot/memory_grid.h"

#include "analyses/memory/page_faults.h"
#include "base/partition_point.h"

#include <string.h>

static const LodeMemorySample *sample_at(const LodeProfile *profile, uint32_t number)
{
	return &LODE_AT(profile->memory->samples, LodeMemorySample, number);
}

static void find_threads(LodeMemoryGrid *self, const LodeProfile *profile, const GArray *chosen)
{
	guint n = profile->memory->threads->len;
	g_autofree bool *is_seen = g_new0(bool, n + 1);

	for (guint i = 0; i < chosen->len; i++)
		is_seen[sample_at(profile, g_array_index(chosen, uint32_t, i))->thread] = true;
	self->threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		if (is_seen[i])
			g_array_append_val(self->threads, i);
	self->threads_per_column = (self->threads->len + LODE_GRID_MAX_COLUMNS - 1) /
	                           LODE_GRID_MAX_COLUMNS;
	self->threads_per_column = MAX(self->threads_per_column, 1);
	self->n_columns = (self->threads->len + self->threads_per_column - 1) /
	                  self->threads_per_column;
}

static uint32_t find_column(const LodeMemoryGrid *self, uint32_t thread)
{
	guint index = LODE_PARTITION_POINT(
		self->threads->len, i, g_array_index(self->threads, uint32_t, i) < thread);

	return index / self->threads_per_column;
}

static size_t thread_index(
	const LodeMemoryGrid *self, LodeGridKind kind, uint32_t column, uint32_t row)
{
	return ((size_t)kind * self->n_columns + column) * self->axis->n_rows + row;
}

double lode_memory_grid_by_thread(
	const LodeMemoryGrid *self, LodeGridKind kind, uint32_t column, uint32_t row)
{
	return self->by_thread[thread_index(self, kind, column, row)];
}

static uint8_t kinds_of(const LodeMemorySample *sample)
{
	uint8_t kinds = 0;

	if ((sample->access & LODE_ACCESS_LOAD) != 0)
		kinds |= 1 << LODE_GRID_LOAD;
	if ((sample->access & LODE_ACCESS_STORE) != 0)
		kinds |= 1 << LODE_GRID_STORE;
	return kinds != 0 ? kinds : 1 << LODE_GRID_UNKNOWN;
}

static size_t find_step(const LodeMemoryGrid *self, const LodeMemorySample *sample)
{
	double span = (double)(self->end_ns - self->begin_ns) + 1;
	double at = (double)(sample->time_ns - self->begin_ns);

	return MIN((size_t)(at / span * LODE_GRID_STEPS), LODE_GRID_STEPS - 1);
}

static void add_time(LodeMemoryGrid *self, const LodeMemorySample *sample, uint32_t row)
{
	if (sample->time_ns == 0) {
		self->n_without_time++;
		return;
	}
	size_t step = find_step(self, sample);
	self->by_time[(size_t)row * LODE_GRID_STEPS + step] += sample->weight;
	self->kinds[(size_t)row * LODE_GRID_STEPS + step] |= kinds_of(sample);
}

static void add_sample(LodeMemoryGrid *self, const LodeMemorySample *sample)
{
	uint32_t row = lode_address_axis_row(self->axis, sample->address);
	uint32_t column = find_column(self, sample->thread);
	uint8_t kinds = kinds_of(sample);

	self->n_samples++;
	self->weight += sample->weight;
	if (row == LODE_NONE)
		return;
	self->has_unknown |= (kinds >> LODE_GRID_UNKNOWN & 1) != 0;
	for (int kind = 0; kind < LODE_GRID_N_KINDS; kind++)
		if ((kinds >> kind & 1) != 0)
			self->by_thread[thread_index(self, (LodeGridKind)kind, column, row)] +=
				sample->weight;
	add_time(self, sample, row);
}

/* The numbers of those that count. */
static GArray *choose(const LodeProfile *profile, const uint32_t *samples, size_t n_samples)
{
	GArray *chosen = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree bool *are_faults = lode_page_faults_events(profile);

	for (size_t i = 0; i < n_samples; i++) {
		const LodeMemorySample *sample = sample_at(profile, samples[i]);
		if (sample->rule != LODE_RULE_NONE && !are_faults[sample->event])
			g_array_append_val(chosen, samples[i]);
	}
	return chosen;
}

static void find_times(LodeMemoryGrid *self, const LodeProfile *profile, const GArray *chosen)
{
	self->begin_ns = UINT64_MAX;
	for (guint i = 0; i < chosen->len; i++) {
		uint64_t time_ns = sample_at(profile, g_array_index(chosen, uint32_t, i))->time_ns;
		if (time_ns == 0)
			continue;
		self->begin_ns = MIN(self->begin_ns, time_ns);
		self->end_ns = MAX(self->end_ns, time_ns);
	}
}

typedef struct {
	size_t box;
	uint32_t column;
	double weight;
} BoxUse;

static int compare_uses(const void *a, const void *b)
{
	const BoxUse *left = a, *right = b;

	if (left->box != right->box)
		return left->box > right->box ? 1 : -1;
	return (left->column > right->column) - (left->column < right->column);
}

/* Who used each box of time most; of equals the first. */
static void find_time_columns(
	LodeMemoryGrid *self, const LodeProfile *profile, const GArray *chosen)
{
	size_t n_boxes = (size_t)self->axis->n_rows * LODE_GRID_STEPS;
	g_autoptr(GArray) uses = g_array_new(FALSE, FALSE, sizeof(BoxUse));

	for (guint i = 0; i < chosen->len; i++) {
		const LodeMemorySample *sample = sample_at(
			profile, g_array_index(chosen, uint32_t, i));
		uint32_t row = lode_address_axis_row(self->axis, sample->address);
		if (row == LODE_NONE || sample->time_ns == 0)
			continue;
		BoxUse use = {(size_t)row * LODE_GRID_STEPS + find_step(self, sample),
			find_column(self, sample->thread), sample->weight};
		g_array_append_val(uses, use);
	}
	g_array_sort(uses, compare_uses);
	self->time_columns = g_new(uint32_t, n_boxes + 1);
	for (size_t i = 0; i < n_boxes; i++)
		self->time_columns[i] = LODE_NONE;
	double weight = 0, most = 0;
	for (guint i = 0; i < uses->len; i++) {
		const BoxUse *use = &g_array_index(uses, BoxUse, i);
		bool is_same_box = i > 0 && use[-1].box == use->box;
		weight = is_same_box && use[-1].column == use->column ? weight + use->weight
		                                                      : use->weight;
		if (is_same_box && weight <= most)
			continue;
		most = weight;
		self->time_columns[use->box] = use->column;
	}
}

/* Those in the part, and no others. */
static GArray *keep_part(
	const LodeProfile *profile, const GArray *chosen, const LodeMemoryGridPart *part)
{
	GArray *kept = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint i = 0; i < chosen->len; i++) {
		uint32_t number = g_array_index(chosen, uint32_t, i);
		const LodeMemorySample *sample = sample_at(profile, number);
		if (sample->address >= part->first && sample->address <= part->last &&
			sample->time_ns >= part->begin_ns && sample->time_ns <= part->end_ns)
			g_array_append_val(kept, number);
	}
	return kept;
}

static int heaviest_first(const void *a, const void *b)
{
	const LodeObjectExtent *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return (left->object > right->object) - (left->object < right->object);
}

/* Mappings have names of their own. */
static void find_extents(LodeMemoryGrid *self, const LodeProfile *profile, const GArray *chosen)
{
	const GArray *objects = profile->memory->objects;
	g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL); /* object → place + 1 */

	for (guint i = 0; i < chosen->len; i++) {
		const LodeMemorySample *sample = sample_at(
			profile, g_array_index(chosen, uint32_t, i));
		if (sample->object >= objects->len ||
			LODE_AT(objects, LodeDataObject, sample->object).layer ==
				LODE_LAYER_MAPPING)
			continue;
		void *key = GUINT_TO_POINTER(sample->object);
		guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, key));
		if (place == 0) {
			LodeObjectExtent added = {
				sample->object, sample->address, sample->address, 0};
			g_array_append_val(self->extents, added);
			place = self->extents->len;
			g_hash_table_insert(places, key, GUINT_TO_POINTER(place));
		}
		LodeObjectExtent *extent = &g_array_index(
			self->extents, LodeObjectExtent, place - 1);
		extent->first = MIN(extent->first, sample->address);
		extent->last = MAX(extent->last, sample->address);
		extent->weight += sample->weight;
	}
	g_array_sort(self->extents, heaviest_first);
	if (self->extents->len > LODE_GRID_MAX_EXTENTS)
		g_array_set_size(self->extents, LODE_GRID_MAX_EXTENTS);
}

static void fill(LodeMemoryGrid *self, const LodeProfile *profile, const GArray *chosen)
{
	self->is_traced = lode_memory_is_traced(profile->memory);
	self->by_thread = g_new0(
		double, (size_t)LODE_GRID_N_KINDS * self->n_columns * self->axis->n_rows + 1);
	self->by_time = g_new0(double, (size_t)LODE_GRID_STEPS * self->axis->n_rows + 1);
	self->kinds = g_new0(uint8_t, (size_t)LODE_GRID_STEPS * self->axis->n_rows + 1);
	for (guint i = 0; i < chosen->len; i++)
		add_sample(self, sample_at(profile, g_array_index(chosen, uint32_t, i)));
	find_time_columns(self, profile, chosen);
}

LodeMemoryGrid *lode_memory_grid_new(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples, uint64_t granularity)
{
	LodeMemoryGrid *self = g_new0(LodeMemoryGrid, 1);
	g_autoptr(GArray) chosen = choose(profile, samples, n_samples);
	const uint32_t *numbers = (const uint32_t *)(void *)chosen->data;
	g_autoptr(LodeAddressHistogram) histogram = lode_address_histogram_new(granularity);
	g_autoptr(LodeCellContents)
		contents = lode_cell_contents_new(profile, numbers, chosen->len, granularity);
	size_t n_cells;

	lode_address_histogram_add_samples(histogram, profile, numbers, chosen->len);
	const LodeHistogramCell *cells = lode_address_histogram_totals(histogram, &n_cells);
	self->axis = lode_address_axis_new(profile, cells, n_cells, contents, granularity);
	self->extents = g_array_new(FALSE, FALSE, sizeof(LodeObjectExtent));
	find_threads(self, profile, chosen);
	find_times(self, profile, chosen);
	fill(self, profile, chosen);
	return self;
}

LodeMemoryGrid *lode_memory_grid_new_part(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeMemoryGridPart *part)
{
	LodeMemoryGrid *self = g_new0(LodeMemoryGrid, 1);
	g_autoptr(GArray) chosen = choose(profile, samples, n_samples);
	g_autoptr(GArray) kept = keep_part(profile, chosen, part);
	const uint32_t *numbers = (const uint32_t *)(void *)kept->data;
	g_autoptr(LodeAddressHistogram) histogram = lode_address_histogram_new(1);
	g_autoptr(LodeCellContents)
		contents = lode_cell_contents_new(profile, numbers, kept->len, 1);
	size_t n_cells;

	lode_address_histogram_add_samples(histogram, profile, numbers, kept->len);
	const LodeHistogramCell *cells = lode_address_histogram_totals(histogram, &n_cells);
	self->axis = lode_address_axis_new_part(
		profile, cells, n_cells, contents, part->first, part->last, part->n_rows);
	self->extents = g_array_new(FALSE, FALSE, sizeof(LodeObjectExtent));
	self->begin_ns = part->begin_ns;
	self->end_ns = part->end_ns;
	find_threads(self, profile, chosen);
	find_extents(self, profile, kept);
	fill(self, profile, kept);
	return self;
}

void lode_memory_grid_free(LodeMemoryGrid *self)
{
	if (self == NULL)
		return;
	g_free(self->time_columns);
	g_free(self->kinds);
	g_free(self->by_time);
	g_free(self->by_thread);
	g_array_unref(self->threads);
	g_array_unref(self->extents);
	lode_address_axis_free(self->axis);
	g_free(self);
}

/* Of each kind from small to large, ended by an empty title. */
static const LodeGridTimeUnit clock_units[] = {
	{"time since the first sample, ns", 1},
	{"time since the first sample, µs", 1e-3},
	{"time since the first sample, ms", 1e-6},
	{"time since the first sample, s", 1e-9},
	{NULL, 0},
};
static const LodeGridTimeUnit reference_units[] = {
	{"references of the trace since the first one shown", 1},
	{"references of the trace since the first one shown, thousands", 1e-3},
	{"references of the trace since the first one shown, millions", 1e-6},
	{NULL, 0},
};

LodeGridTimeUnit lode_memory_grid_time_unit(const LodeMemoryGrid *self)
{
	const LodeGridTimeUnit *unit = self->is_traced ? reference_units : clock_units;
	double span = (double)(self->end_ns - self->begin_ns) + 1;

	while (unit[1].title != NULL && span * unit->factor > 3000)
		unit++;
	return *unit;
}
