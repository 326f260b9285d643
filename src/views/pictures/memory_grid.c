/* SPDX-License-Identifier: MIT */
/* The samples of a plot counted into boxes. */
#include "views/pictures/memory_grid.h"

#include "analyses/memory/page_faults.h"
#include "analyses/memory/sample_attributes.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/memory.h"
#include "views/pictures/address_axis.h"

#include <string.h>

static const LodeMemorySample *sample_at(const LodeProfile *profile, uint32_t number)
{
	return &LODE_AT(lode_memory_of(profile)->samples, LodeMemorySample, number);
}

static GArray *find_threads(const LodeProfile *profile, const GArray *samples)
{
	guint n = lode_memory_of(profile)->threads->len;
	g_autofree bool *is_seen = g_new0(bool, n + 1);
	GArray *threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint i = 0; i < samples->len; i++)
		is_seen[sample_at(profile, g_array_index(samples, uint32_t, i))->thread] = true;
	for (uint32_t i = 0; i < n; i++)
		if (is_seen[i])
			g_array_append_val(threads, i);
	return threads;
}

static void take_threads(LodeMemoryGrid *self, GArray *threads)
{
	self->threads = threads;
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

	return MIN((size_t)(at * LODE_GRID_STEPS / span), LODE_GRID_STEPS - 1);
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

/* Now and then in a loop over samples. */
static bool is_stopped(const LodeProgress *progress, size_t i)
{
	return i % 65536 == 0 && lode_progress_is_cancelled(progress);
}

/* The numbers of those that count; fewer where the work is stopped. */
static GArray *choose(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	const LodeProgress *progress)
{
	GArray *chosen = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree bool *are_faults = lode_page_faults_events(profile);

	for (size_t i = 0; i < n_samples && !is_stopped(progress, i); i++) {
		const LodeMemorySample *sample = sample_at(profile, samples[i]);
		if (sample->rule != LODE_RULE_NONE && !are_faults[sample->event])
			g_array_append_val(chosen, samples[i]);
	}
	return chosen;
}

static int compare_times(const void *a, const void *b, void *data)
{
	const uint32_t *left = a, *right = b;
	uint64_t left_ns = sample_at(data, *left)->time_ns;
	uint64_t right_ns = sample_at(data, *right)->time_ns;

	return left_ns != right_ns ? lode_number_order(left_ns, right_ns)
	                           : lode_number_order(*left, *right);
}

struct LodeMemoryGridParts {
	gatomicrefcount references;
	GArray *by_time; /* uint32_t: the samples that count */
	GArray *threads; /* of them, as in a grid */
	bool is_traced;
	uint64_t first_ns;
};

LodeMemoryGridParts *lode_memory_grid_parts_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeProgress *progress)
{
	const LodeMemory *memory = lode_memory_of(profile);
	g_autoptr(LodeMemoryGridParts) self = g_new0(LodeMemoryGridParts, 1);
	GArray *by_time = choose(profile, samples, n_samples, progress);
	guint n_ordered = MIN(by_time->len, 1);

	g_atomic_ref_count_init(&self->references);
	self->by_time = by_time;
	/* Most recordings are in order. */
	while (n_ordered < by_time->len &&
		compare_times(&g_array_index(by_time, uint32_t, n_ordered - 1),
			&g_array_index(by_time, uint32_t, n_ordered), (void *)profile) < 0)
		n_ordered++;
	if (n_ordered < by_time->len)
		g_array_sort_with_data(by_time, compare_times, (void *)profile);
	self->threads = find_threads(profile, by_time);
	self->is_traced = lode_memory_is_traced(memory);
	self->first_ns = lode_sample_first_time(memory);
	return lode_progress_is_cancelled(progress) ? NULL : g_steal_pointer(&self);
}

uint64_t lode_memory_grid_parts_first_time(const LodeMemoryGridParts *self)
{
	return self->first_ns;
}

LodeMemoryGridParts *lode_memory_grid_parts_ref(LodeMemoryGridParts *self)
{
	g_atomic_ref_count_inc(&self->references);
	return self;
}

void lode_memory_grid_parts_unref(LodeMemoryGridParts *self)
{
	if (self == NULL || !g_atomic_ref_count_dec(&self->references))
		return;
	g_clear_pointer(&self->by_time, g_array_unref);
	g_clear_pointer(&self->threads, g_array_unref);
	g_free(self);
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

/* LODE_NONE: it is in none. */
static uint32_t find_box(const LodeMemoryGrid *self, const LodeMemorySample *sample)
{
	uint32_t row = lode_address_axis_row(self->axis, sample->address);

	return row == LODE_NONE || sample->time_ns == 0
	               ? LODE_NONE
	               : row * LODE_GRID_STEPS + (uint32_t)find_step(self, sample);
}

/* The column with most weight; of equals the first. `weights`, of all columns, are 0 before and
 * after. */
static uint32_t heaviest_column(const LodeMemoryGrid *self, const LodeProfile *profile,
	const uint32_t *samples, size_t n_samples, double *weights)
{
	uint32_t best = LODE_NONE;

	for (size_t i = 0; i < n_samples; i++) {
		const LodeMemorySample *sample = sample_at(profile, samples[i]);
		weights[find_column(self, sample->thread)] += sample->weight;
	}
	for (size_t i = 0; i < n_samples; i++) {
		uint32_t column = find_column(self, sample_at(profile, samples[i])->thread);
		if (best == LODE_NONE || weights[column] > weights[best] ||
			(!(weights[column] < weights[best]) && column < best))
			best = column;
	}
	for (size_t i = 0; i < n_samples; i++)
		weights[find_column(self, sample_at(profile, samples[i])->thread)] = 0;
	return best;
}

/* Finds the column of threads that used each box of time most: sorts the samples by box first. */
static void find_time_columns(
	LodeMemoryGrid *self, const LodeProfile *profile, const GArray *chosen)
{
	size_t n_boxes = (size_t)self->axis->n_rows * LODE_GRID_STEPS;
	g_autofree size_t *ends = g_new0(size_t, n_boxes + 1);
	g_autofree uint32_t *boxes = g_new(uint32_t, chosen->len + 1);
	g_autofree uint32_t *ordered = g_new(uint32_t, chosen->len + 1);
	g_autofree double *weights = g_new0(double, self->n_columns + 1);

	for (guint i = 0; i < chosen->len; i++) {
		boxes[i] = find_box(self, sample_at(profile, g_array_index(chosen, uint32_t, i)));
		if (boxes[i] != LODE_NONE)
			ends[boxes[i] + 1]++;
	}
	for (size_t box = 0; box < n_boxes; box++)
		ends[box + 1] += ends[box];
	for (guint i = 0; i < chosen->len; i++)
		if (boxes[i] != LODE_NONE)
			ordered[ends[boxes[i]]++] = g_array_index(chosen, uint32_t, i);
	self->time_columns = g_new(uint32_t, n_boxes + 1);
	for (size_t box = 0; box < n_boxes; box++) {
		size_t first = box > 0 ? ends[box - 1] : 0;
		self->time_columns[box] = heaviest_column(
			self, profile, ordered + first, ends[box] - first, weights);
	}
}

/* Keeps only the samples in the part. */
static GArray *keep_part(
	const LodeProfile *profile, const GArray *by_time, const LodeMemoryGridPart *part)
{
	GArray *kept = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	guint first = LODE_PARTITION_POINT(by_time->len, i,
		sample_at(profile, g_array_index(by_time, uint32_t, i))->time_ns < part->begin_ns);

	for (guint i = first; i < by_time->len; i++) {
		uint32_t number = g_array_index(by_time, uint32_t, i);
		const LodeMemorySample *sample = sample_at(profile, number);
		if (sample->time_ns > part->end_ns)
			break;
		if (sample->address >= part->first && sample->address <= part->last)
			g_array_append_val(kept, number);
	}
	return kept;
}

LODE_ORDER(heaviest_first, LodeObjectExtent, LODE_DESCENDING(weight), LODE_ASCENDING(object))

/* Mappings have names of their own. */
static void find_extents(LodeMemoryGrid *self, const LodeProfile *profile, const GArray *chosen)
{
	const GArray *objects = lode_memory_of(profile)->objects;
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

/* False: it was stopped. */
static bool fill(LodeMemoryGrid *self, const LodeProfile *profile, const GArray *chosen,
	const LodeProgress *progress)
{
	self->by_thread = g_new0(
		double, (size_t)LODE_GRID_N_KINDS * self->n_columns * self->axis->n_rows + 1);
	self->by_time = g_new0(double, (size_t)LODE_GRID_STEPS * self->axis->n_rows + 1);
	self->kinds = g_new0(uint8_t, (size_t)LODE_GRID_STEPS * self->axis->n_rows + 1);
	for (guint i = 0; i < chosen->len; i++) {
		if (is_stopped(progress, i))
			return false;
		add_sample(self, sample_at(profile, g_array_index(chosen, uint32_t, i)));
	}
	find_time_columns(self, profile, chosen);
	return !lode_progress_is_cancelled(progress);
}

LodeMemoryGrid *lode_memory_grid_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, uint64_t granularity, const LodeProgress *progress)
{
	g_autoptr(GArray) chosen = choose(profile, samples, n_samples, progress);
	const uint32_t *numbers = (const uint32_t *)(void *)chosen->data;
	g_autoptr(LodeAddressHistogram) histogram = lode_address_histogram_new(granularity);
	g_autoptr(LodeCellContents)
		contents = lode_cell_contents_new(profile, numbers, chosen->len, granularity);
	size_t n_cells;

	if (lode_progress_is_cancelled(progress))
		return NULL;
	lode_address_histogram_add_samples(histogram, profile, numbers, chosen->len);
	const LodeHistogramCell *cells = lode_address_histogram_totals(histogram, &n_cells);
	if (lode_progress_is_cancelled(progress))
		return NULL;
	g_autoptr(LodeMemoryGrid) self = g_new0(LodeMemoryGrid, 1);
	self->axis = lode_address_axis_new(profile, cells, n_cells, contents, granularity);
	self->extents = g_array_new(FALSE, FALSE, sizeof(LodeObjectExtent));
	self->is_traced = lode_memory_is_traced(lode_memory_of(profile));
	take_threads(self, find_threads(profile, chosen));
	find_times(self, profile, chosen);
	return fill(self, profile, chosen, progress) ? g_steal_pointer(&self) : NULL;
}

LodeMemoryGrid *lode_memory_grid_new_part(const LodeProfile *profile,
	const LodeMemoryGridParts *parts, const LodeMemoryGridPart *part,
	const LodeProgress *progress)
{
	g_autoptr(LodeMemoryGrid) self = g_new0(LodeMemoryGrid, 1);
	g_autoptr(GArray) kept = keep_part(profile, parts->by_time, part);

	self->axis = lode_address_axis_new_part(part->first, part->last, part->n_rows);
	self->extents = g_array_new(FALSE, FALSE, sizeof(LodeObjectExtent));
	self->begin_ns = part->begin_ns;
	self->end_ns = part->end_ns;
	self->is_traced = parts->is_traced;
	take_threads(self, g_array_ref(parts->threads));
	find_extents(self, profile, kept);
	return fill(self, profile, kept, progress) ? g_steal_pointer(&self) : NULL;
}

void lode_memory_grid_free(LodeMemoryGrid *self)
{
	if (self == NULL)
		return;
	g_free(self->time_columns);
	g_free(self->kinds);
	g_free(self->by_time);
	g_free(self->by_thread);
	g_clear_pointer(&self->threads, g_array_unref);
	g_clear_pointer(&self->extents, g_array_unref);
	lode_address_axis_free(self->axis);
	g_free(self);
}

/* The units of each kind from small to large, ended by an empty title. */
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
