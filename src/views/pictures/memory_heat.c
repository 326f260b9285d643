/* SPDX-License-Identifier: MIT */
#include "views/pictures/memory_heat.h"

#include "analyses/memory/sample_attributes.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "model/index.h"
#include "model/memory.h"
#include "views/form/format.h"
#include "views/form/function_name.h"
#include "views/memory/memory_names.h"
#include "views/memory/memory_notes.h"
#include "views/pictures/address_axis.h"
#include "views/profile/profile_json.h"

typedef struct {
	const LodeProfile *profile;
	const LodeMemoryGrid *grid;
	const LodeMemoryNotes *notes; /* NULL: of a part, which has no head and no segments */
	LodeJsonStream json;
} Heat;

static const char *const kind_words[LODE_GRID_N_KINDS] = {"load", "store", "unknown"};

static void put_segments(Heat *self)
{
	LodeJsonStream *json = &self->json;

	lode_json_member_begin(json, "segments", '[');
	for (guint i = 0; i < self->grid->axis->segments->len; i++) {
		const LodeAddressSegment *segment = &LODE_AT(
			self->grid->axis->segments, LodeAddressSegment, i);
		lode_json_line_begin(json, '{');
		lode_json_member_string(json, "name", segment->name);
		lode_json_member_address(json, "first", segment->first);
		lode_json_member_address(json, "last", segment->last);
		lode_json_member_number(json, "first_row", segment->first_row);
		lode_json_member_number(json, "rows", segment->n_rows);
		lode_json_member_number(json, "weight", segment->weight);
		lode_json_key(json, "objects");
		lode_json_strings(json, segment->objects);
		lode_json_member_begin(json, "short_objects", '[');
		for (guint j = 0; j < segment->objects->len; j++) {
			g_autofree char *brief = lode_function_name_short(
				g_ptr_array_index(segment->objects, j));
			lode_json_string(json, brief);
		}
		lode_json_end(json, ']');
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

/* [first, last]: what a row's tooltip says. */
static void put_rows(Heat *self)
{
	LodeJsonStream *json = &self->json;
	uint64_t first, last;

	lode_json_member_begin(json, "rows", '[');
	for (uint32_t row = 0; row < self->grid->axis->n_rows; row++) {
		lode_address_axis_range(self->grid->axis, row, &first, &last);
		lode_json_begin(json, '[');
		lode_json_address(json, first);
		lode_json_address(json, last);
		lode_json_end(json, ']');
	}
	lode_json_end(json, ']');
}

static void put_threads(Heat *self)
{
	LodeJsonStream *json = &self->json;
	const GArray *threads = self->grid->threads;

	lode_json_member_number(json, "threads_per_column", self->grid->threads_per_column);
	lode_json_member_begin(json, "threads", '[');
	for (guint i = 0; i < threads->len; i++) {
		g_autofree char *name = lode_memory_thread_name(
			self->profile, g_array_index(threads, uint32_t, i));
		lode_json_string(json, name);
	}
	lode_json_end(json, ']');
	/* As a filter calls them. */
	lode_json_member_begin(json, "thread_labels", '[');
	for (guint i = 0; i < threads->len; i++) {
		g_autofree char *label = lode_memory_thread_label(
			self->profile, g_array_index(threads, uint32_t, i));
		lode_json_string(json, label);
	}
	lode_json_end(json, ']');
}

/* "by_thread": [[column, row, load, store, unknown], …] */
static void put_by_thread(Heat *self)
{
	LodeJsonStream *json = &self->json;

	lode_json_member_begin(json, "by_thread", '[');
	for (uint32_t column = 0; column < self->grid->n_columns; column++) {
		for (uint32_t row = 0; row < self->grid->axis->n_rows; row++) {
			double weights[LODE_GRID_N_KINDS], all = 0;
			for (int kind = 0; kind < LODE_GRID_N_KINDS; kind++) {
				weights[kind] = lode_memory_grid_by_thread(
					self->grid, (LodeGridKind)kind, column, row);
				all += weights[kind];
			}
			if (!(all > 0))
				continue;
			lode_json_begin(json, '[');
			lode_json_number(json, column);
			lode_json_number(json, row);
			for (int kind = 0; kind < LODE_GRID_N_KINDS; kind++)
				lode_json_number(json, weights[kind]);
			lode_json_end(json, ']');
		}
	}
	lode_json_end(json, ']');
}

/* "by_time": [[step, row, weight, kinds, column of the thread with most], …]; bit k of kinds is
 * kinds_of_access[k]. */
static void put_by_time(Heat *self)
{
	LodeJsonStream *json = &self->json;
	const LodeMemoryGrid *grid = self->grid;

	lode_json_member_begin(json, "by_time", '[');
	for (uint32_t row = 0; row < grid->axis->n_rows; row++) {
		for (uint32_t step = 0; step < LODE_GRID_STEPS; step++) {
			size_t box = (size_t)row * LODE_GRID_STEPS + step;
			if (!(grid->by_time[box] > 0))
				continue;
			lode_json_begin(json, '[');
			lode_json_number(json, step);
			lode_json_number(json, row);
			lode_json_number(json, grid->by_time[box]);
			lode_json_number(json, grid->kinds[box]);
			lode_json_number(json, grid->time_columns[box]);
			lode_json_end(json, ']');
		}
	}
	lode_json_end(json, ']');
}

static void put_times(Heat *self)
{
	LodeJsonStream *json = &self->json;
	const LodeMemoryGrid *grid = self->grid;
	bool has_time = grid->begin_ns <= grid->end_ns;
	LodeGridTimeUnit unit = {NULL, 1};

	lode_json_member_number(json, "steps", LODE_GRID_STEPS);
	if (self->notes == NULL)
		return;
	if (has_time)
		unit = lode_memory_grid_time_unit(grid);
	lode_json_member_bool(json, "has_time", has_time);
	/* As `time` in expressions. */
	uint64_t first_ns = lode_sample_first_time(lode_memory_of(self->profile));
	lode_json_member_number(json, "begin", has_time ? (double)(grid->begin_ns - first_ns) : 0);
	lode_json_member_number(json, "end", has_time ? (double)(grid->end_ns - first_ns) : 0);
	lode_json_member_string(json, "time_title", unit.title);
	lode_json_member_number(json, "time_factor", unit.factor);
	lode_json_member_number(json, "without_time", (double)grid->n_without_time);
}

/* "names": [[object, first, last, weight, its short name], …], the heaviest first */
static void put_names(Heat *self)
{
	LodeJsonStream *json = &self->json;

	lode_json_member_begin(json, "names", '[');
	for (guint i = 0; i < self->grid->extents->len; i++) {
		const LodeObjectExtent *extent = &LODE_AT(self->grid->extents, LodeObjectExtent, i);
		const char *name = lode_memory_object_name(
			lode_memory_of(self->profile), extent->object);
		g_autofree char *brief = name != NULL ? lode_function_name_short(name) : NULL;
		lode_json_begin(json, '[');
		lode_json_string(json, name);
		lode_json_address(json, extent->first);
		lode_json_address(json, extent->last);
		lode_json_number(json, extent->weight);
		lode_json_string(json, brief);
		lode_json_end(json, ']');
	}
	lode_json_end(json, ']');
	lode_json_line(json);
}

static void put_document(Heat *self, uint64_t granularity)
{
	LodeJsonStream *json = &self->json;
	const LodeMemoryGrid *grid = self->grid;

	lode_json_begin(json, '{');
	lode_json_line(json);
	if (self->notes != NULL) {
		lode_profile_json_head(json, self->profile);
		lode_json_line(json);
		lode_memory_notes_json(self->notes, json);
		lode_json_line(json);
		lode_json_member_number(json, "segments_left_out", grid->axis->n_left_out);
		lode_json_member_number(json, "weight_left_out", grid->axis->left_out_weight);
		put_segments(self);
	} else {
		put_names(self);
	}
	lode_json_line(json);
	lode_json_member_number(json, "granularity", (double)granularity);
	lode_json_member_number(json, "samples", (double)grid->n_samples);
	lode_json_member_number(json, "weight", grid->weight);
	put_rows(self);
	lode_json_line(json);
	put_threads(self);
	lode_json_line(json);
	lode_json_member_begin(json, "kinds_of_access", '[');
	for (int kind = 0; kind < LODE_GRID_N_KINDS; kind++)
		lode_json_string(json, kind_words[kind]);
	lode_json_end(json, ']');
	put_by_thread(self);
	lode_json_line(json);
	put_times(self);
	lode_json_line(json);
	put_by_time(self);
	lode_json_end(json, '}');
}

static bool fail_stopped(GError **error)
{
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return false;
}

bool lode_memory_heat_write(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	uint64_t granularity, const LodeProgress *progress, FILE *out, GError **error)
{
	g_autoptr(LodeMemoryGrid)
		grid = lode_memory_grid_new(profile, samples, n_samples, granularity, progress);
	g_auto(LodeMemoryNotes) notes = {0};
	Heat heat = {.profile = profile, .grid = grid, .notes = &notes};

	if (grid == NULL)
		return fail_stopped(error);
	lode_memory_notes_init(&notes, profile, samples, n_samples);
	lode_json_stream_init(&heat.json, out);
	put_document(&heat, granularity);
	return lode_view_flush(out, error);
}

bool lode_memory_heat_write_part(const LodeProfile *profile, const LodeMemoryGridParts *parts,
	const LodeMemoryGridPart *part, const LodeProgress *progress, FILE *out, GError **error)
{
	g_autoptr(LodeMemoryGrid) grid = lode_memory_grid_new_part(profile, parts, part, progress);
	Heat heat = {.profile = profile, .grid = grid};

	if (grid == NULL)
		return fail_stopped(error);
	lode_json_stream_init(&heat.json, out);
	put_document(&heat, LODE_AT(grid->axis->segments, LodeAddressSegment, 0).cells_per_row);
	return lode_view_flush(out, error);
}
