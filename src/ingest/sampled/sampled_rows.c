/* SPDX-License-Identifier: MIT */
/*
 * Sums over places, branches and ranges in tables by key, sorted when all were read. Where the
 * newest range of a stack ends was not recorded: it is shared out over the ranges that begin at the
 * same place, which other stacks saw whole.
 */
#include "ingest/sampled/sampled_rows.h"

#include "base/arrays/large_array.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* No code runs this far without a taken branch; two addresses further apart are of two
	   stacks. */
	LONGEST_RANGE = 1 << 20,
	MAX_VALUES = 1 << 28, /* rows × columns: 2 GiB */
	MAX_SPANS = 1 << 24,  /* 1 GiB */
};

typedef struct {
	uint64_t address;
	uint32_t object;
	double count;
} NewestRange;

static uint32_t object_of(const LodeSampledRows *self, const LodePlace *place)
{
	return lode_code_images_object_of(self->images, self->recording, place->image);
}

void lode_sampled_rows_init(
	LodeSampledRows *self, LodeRecording *recording, const LodeCodeImages *images)
{
	*self = (LodeSampledRows){.recording = recording,
		.images = images,
		.n_columns = recording->events->len,
		.max_spans = MAX_SPANS};
	lode_id_cache_init(&self->rows);
	lode_id_cache_init(&self->branches);
	lode_id_cache_init(&self->ranges);
	lode_id_cache_init(&self->newest);
	self->places = g_array_new(FALSE, FALSE, sizeof(LodePlace));
	self->values = g_array_new(FALSE, TRUE, sizeof(double));
	self->later = g_array_new(FALSE, FALSE, sizeof(LodeSampledLaterValue));
	self->newest_ranges = g_array_new(FALSE, FALSE, sizeof(NewestRange));
	recording->jumps = g_array_new(FALSE, FALSE, sizeof(LodeRecordedJump));
	recording->calls = g_array_new(FALSE, FALSE, sizeof(LodeRecordedCall));
}

void lode_sampled_rows_clear(LodeSampledRows *self)
{
	lode_id_cache_clear(&self->rows);
	lode_id_cache_clear(&self->branches);
	lode_id_cache_clear(&self->ranges);
	lode_id_cache_clear(&self->newest);
	g_clear_pointer(&self->places, g_array_unref);
	g_clear_pointer(&self->values, g_array_unref);
	g_clear_pointer(&self->later, g_array_unref);
	g_clear_pointer(&self->newest_ranges, g_array_unref);
}

/* The number of the row with this key in `array`, where `element` is appended when it is new. */
static uint32_t find_row(
	LodeIdCache *cache, const LodeIdKey *key, GArray *array, const void *element)
{
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(cache, key, &is_new);

	if (is_new) {
		slot->id = array->len;
		g_array_append_vals(array, element, 1);
	}
	return slot->id;
}

uint32_t lode_sampled_rows_find(LodeSampledRows *self, const LodePlace *place)
{
	const LodeIdKey key = {{place->address, place->image, 0}};
	guint n_rows = self->places->len;

	self->is_full |= (uint64_t)(n_rows + 1) * self->n_columns > MAX_VALUES;
	if (self->is_full)
		return LODE_NONE;
	uint32_t row = find_row(&self->rows, &key, self->places, place);
	if (row == n_rows) {
		g_array_set_size(self->values, self->values->len + self->n_columns);
		object_of(self, place); /* in the order of the samples */
	}
	return row;
}

void lode_sampled_rows_add_branch(
	LodeSampledRows *self, const LodePlace *source, const LodePlace *target)
{
	const LodeIdKey key = {
		{source->address, target->address, (uint64_t)source->image << 32 | target->image}};
	const LodeRecordedJump jump = {
		.source = source->address,
		.target = target->address,
		.object = object_of(self, source),
		.target_object = object_of(self, target),
		.target_function = LODE_NONE,
	};
	GArray *jumps = self->recording->jumps;

	self->is_full |= jumps->len >= self->max_spans;
	if (self->is_full)
		return;
	uint32_t row = find_row(&self->branches, &key, jumps, &jump);
	g_array_index(jumps, LodeRecordedJump, row).taken++;
	g_array_index(jumps, LodeRecordedJump, row).executed++;
}

static void add_range(LodeSampledRows *self, const LodeRecordedRange *range, double count)
{
	const LodeIdKey key = {{range->first, range->last, range->object}};
	GArray *ranges = self->recording->ranges;

	self->is_full |= ranges->len >= self->max_spans;
	if (self->is_full)
		return;
	uint32_t row = find_row(&self->ranges, &key, ranges, range);
	g_array_index(ranges, LodeRecordedRange, row).count += count;
}

void lode_sampled_rows_add_range(
	LodeSampledRows *self, const LodePlace *first, const LodePlace *last)
{
	if (first == NULL || last == NULL || first->image != last->image ||
		last->address < first->address || last->address - first->address > LONGEST_RANGE) {
		self->n_broken++;
		return;
	}
	const LodeRecordedRange range = {first->address, last->address, object_of(self, first), 0};
	add_range(self, &range, 1);
}

void lode_sampled_rows_add_newest(LodeSampledRows *self, const LodePlace *first)
{
	const LodeIdKey key = {{first->address, first->image, 0}};
	const NewestRange newest = {first->address, object_of(self, first), 0};

	self->is_full |= self->newest_ranges->len >= self->max_spans;
	if (self->is_full)
		return;
	uint32_t row = find_row(&self->newest, &key, self->newest_ranges, &newest);
	g_array_index(self->newest_ranges, NewestRange, row).count++;
}

LODE_ORDER(compare_ranges, LodeRecordedRange, LODE_ASCENDING(object), LODE_ASCENDING(first),
	LODE_ASCENDING(last))

LODE_ORDER(compare_newest, NewestRange, LODE_ASCENDING(object), LODE_ASCENDING(address))

/* Shares out over the ranges [begin, end), which all begin where it does. */
static void share_newest(GArray *ranges, guint begin, guint end, double count)
{
	double sum = 0;

	for (guint i = begin; i < end; i++)
		sum += g_array_index(ranges, LodeRecordedRange, i).count;
	for (guint i = begin; i < end; i++)
		g_array_index(ranges, LodeRecordedRange, i).count *= 1 + count / sum;
}

static void account(LodeSampledRows *self, const char *reason, double count)
{
	if (count > 0)
		lode_recording_add_unresolved(self->recording, reason, NULL, count, 0);
}

/* Both lists are sorted by (object, first), so that one pass finds the ranges of each. */
static void estimate_newest(LodeSampledRows *self)
{
	GArray *ranges = self->recording->ranges;
	double estimated = 0, unknown = 0;
	guint at = 0;

	for (guint i = 0; i < self->newest_ranges->len; i++) {
		const NewestRange *newest = &g_array_index(self->newest_ranges, NewestRange, i);
		const LodeRecordedRange first = {newest->address, 0, newest->object, 0};
		while (at < ranges->len &&
			compare_ranges(&g_array_index(ranges, LodeRecordedRange, at), &first) < 0)
			at++;
		guint end = at;
		while (end < ranges->len &&
			g_array_index(ranges, LodeRecordedRange, end).object == first.object &&
			g_array_index(ranges, LodeRecordedRange, end).first == first.first)
			end++;
		*(end > at ? &estimated : &unknown) += newest->count;
		share_newest(ranges, at, end, newest->count);
	}
	account(self, "newest range of a branch stack, its end estimated from others", estimated);
	account(self, "newest range of a branch stack, its end unknown", unknown);
}

/* A place and the row that it was. */
typedef struct {
	uint64_t address;
	uint32_t object, row;
} SortedRow;

LODE_ORDER(compare_rows, SortedRow, LODE_ASCENDING(object), LODE_ASCENDING(address))

static void sort_rows(LodeSampledRows *self)
{
	LodeRecording *recording = self->recording;
	guint n = self->places->len;
	uint32_t n_columns = recording->events->len;
	g_autofree SortedRow *order = g_new(SortedRow, MAX(n, 1));
	g_autofree uint32_t *sorted = g_new(uint32_t, MAX(n, 1)); /* of each row */

	for (guint i = 0; i < n; i++) {
		const LodePlace *place = &g_array_index(self->places, LodePlace, i);
		order[i] = (SortedRow){place->address, object_of(self, place), i};
	}
	qsort(order, n, sizeof(SortedRow), compare_rows);
	recording->instructions = g_array_sized_new(
		FALSE, FALSE, sizeof(LodeRecordedInstruction), n);
	recording->values = g_new0(double, MAX((size_t)n * n_columns, 1));
	for (guint i = 0; i < n; i++) {
		size_t from = (size_t)order[i].row * self->n_columns;
		const LodeRecordedInstruction instruction = {
			.address = order[i].address,
			.object = order[i].object,
			.function = LODE_NONE,
			.file = LODE_NONE,
			.first_value = i * n_columns,
			.n_values = n_columns,
		};
		sorted[order[i].row] = i;
		g_array_append_val(recording->instructions, instruction);
		memcpy(recording->values + instruction.first_value,
			&g_array_index(self->values, double, from),
			self->n_columns * sizeof(double));
	}
	for (guint i = 0; i < self->later->len; i++) {
		const LodeSampledLaterValue *later = &LODE_AT(
			self->later, LodeSampledLaterValue, i);
		recording->values[(size_t)sorted[later->row] * n_columns + later->column] +=
			later->value;
	}
}

bool lode_sampled_rows_finish(LodeSampledRows *self, GError **error)
{
	size_t row_size = sizeof(SortedRow) + sizeof(LodeRecordedInstruction) +
	                  self->recording->events->len * sizeof(double);

	if (self->is_full) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"too many places: %u with values of %" G_GUINT32_FORMAT
			" events, %u branches and %u ranges between them",
			self->places->len, self->n_columns - 1, self->recording->jumps->len,
			self->recording->ranges->len);
		return false;
	}
	if (!lode_large_array_has_room(row_size, self->places->len)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"not enough memory for the samples of %u places", self->places->len);
		return false;
	}
	g_array_sort(self->recording->jumps, lode_recorded_jump_compare);
	g_array_sort(self->recording->ranges, compare_ranges);
	g_array_sort(self->newest_ranges, compare_newest);
	account(self, "broken range of a branch stack", (double)self->n_broken);
	estimate_newest(self);
	sort_rows(self);
	return true;
}
