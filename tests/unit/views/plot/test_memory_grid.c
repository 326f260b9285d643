/* SPDX-License-Identifier: MIT */
/*
 * Samples counted into boxes: a part, and of the whole picture who used a box of time most, are
 * what a count of each sample by itself gives, whatever the order of the samples' times.
 */
#include "../../analyses/memory/sample_profile.h"
#include "model/memory.h"
#include "seeds.h"
#include "views/pictures/address_axis.h"
#include "views/pictures/memory_grid.h"

#include <gio/gio.h>
#include <math.h>

/* A profile whose times go forth and back; some are the same, some are none. */
static LodeProfile *random_profile(void)
{
	SampleProfileOptions options = {.seed = (uint32_t)random_int(),
		.n_threads = (uint32_t)random_int_range(1, 200),
		.n_samples = 3000,
		.anon_bytes = 1 << 20,
		.unresolved = 0.1,
		.faults = 0.1};
	LodeProfile *profile = sample_profile_random(&options);
	GArray *samples = profile->memory->samples;
	bool is_in_order = random_bit();

	for (guint i = 0; i < samples->len; i++) {
		LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		sample->time_ns = 1000 + (is_in_order ? i : (uint64_t)random_int_range(0, 2000));
		sample->weight = random_int_range(0, 4);
		if (!is_in_order && random_int_range(0, 20) == 0)
			sample->time_ns = 0;
	}
	return profile;
}

static GArray *all_of(const LodeProfile *profile)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < profile->memory->samples->len; i++)
		if (random_int_range(0, 5) > 0)
			g_array_append_val(all, i);
	return all;
}

/* What the naive count has of a part, one box after the other. */
typedef struct {
	double *by_time; /* [row][step] */
	double *by_column;
	uint8_t *kinds;
	double *of_columns; /* [row][step][column] */
	uint64_t n;
	double weight;
} Counted;

static void counted_clear(Counted *self)
{
	g_free(self->by_time);
	g_free(self->by_column);
	g_free(self->kinds);
	g_free(self->of_columns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Counted, counted_clear)

static uint32_t column_of(const LodeMemoryGrid *grid, uint32_t thread)
{
	for (guint i = 0; i < grid->threads->len; i++)
		if (g_array_index(grid->threads, uint32_t, i) == thread)
			return i / grid->threads_per_column;
	g_assert_not_reached();
}

static bool counts(const LodeMemorySample *sample)
{
	return sample->rule != LODE_RULE_NONE && sample->event != SAMPLE_EVENT_FAULTS;
}

static Counted count_part(const LodeProfile *profile, const GArray *all, const LodeMemoryGrid *grid,
	const LodeMemoryGridPart *part)
{
	size_t n_boxes = (size_t)grid->axis->n_rows * LODE_GRID_STEPS;
	Counted counted = {g_new0(double, n_boxes), g_new0(double, grid->n_columns),
		g_new0(uint8_t, n_boxes), g_new0(double, n_boxes * grid->n_columns), 0, 0};
	uint64_t row_bytes = (part->last - part->first) / part->n_rows + 1;

	for (guint i = 0; i < all->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(profile->memory->samples,
			LodeMemorySample, g_array_index(all, uint32_t, i));
		if (!counts(sample) || sample->address < part->first ||
			sample->address > part->last || sample->time_ns < part->begin_ns ||
			sample->time_ns > part->end_ns)
			continue;
		uint64_t row = (sample->address - part->first) / row_bytes;
		uint64_t step = (sample->time_ns - part->begin_ns) * LODE_GRID_STEPS /
		                (part->end_ns - part->begin_ns + 1);
		size_t box = row * LODE_GRID_STEPS + step;
		uint32_t column = column_of(grid, sample->thread);
		counted.n++;
		counted.weight += sample->weight;
		counted.by_time[box] += sample->weight;
		counted.by_column[column] += sample->weight;
		counted.of_columns[box * grid->n_columns + column] += sample->weight;
		bool is_load = (sample->access & LODE_ACCESS_LOAD) != 0;
		bool is_store = (sample->access & LODE_ACCESS_STORE) != 0;
		counted.kinds[box] |= (uint8_t)(is_load << LODE_GRID_LOAD |
						is_store << LODE_GRID_STORE |
						(!is_load && !is_store) << LODE_GRID_UNKNOWN);
	}
	return counted;
}

/* Of a box that some sample is in. */
static void check_column(const LodeMemoryGrid *grid, const Counted *counted, size_t box)
{
	const double *columns = counted->of_columns + box * grid->n_columns;
	uint32_t column = grid->time_columns[box];

	g_assert_cmpuint(column, <, grid->n_columns);
	for (uint32_t i = 0; i < grid->n_columns; i++)
		g_assert_true(i < column ? columns[i] < columns[column] || columns[column] == 0
					 : columns[i] <= columns[column]);
}

static void check_part(const LodeProfile *profile, const GArray *all,
	const LodeMemoryGridParts *parts, const LodeMemoryGridPart *part)
{
	g_autoptr(LodeMemoryGrid) grid = lode_memory_grid_new_part(profile, parts, part, NULL);
	g_auto(Counted) counted = count_part(profile, all, grid, part);
	double in_columns = 0;

	g_assert_cmpuint(grid->axis->n_rows, <=, part->n_rows);
	g_assert_cmpuint(grid->n_samples, ==, counted.n);
	g_assert_cmpfloat(grid->weight, ==, counted.weight);
	for (size_t box = 0; box < (size_t)grid->axis->n_rows * LODE_GRID_STEPS; box++) {
		g_assert_cmpfloat(grid->by_time[box], ==, counted.by_time[box]);
		g_assert_cmpuint(grid->kinds[box], ==, counted.kinds[box]);
		if (counted.kinds[box] != 0)
			check_column(grid, &counted, box);
		else
			g_assert_cmpuint(grid->time_columns[box], ==, LODE_NONE);
	}
	for (uint32_t column = 0; column < grid->n_columns; column++)
		in_columns += counted.by_column[column];
	g_assert_cmpfloat(in_columns, ==, counted.weight);
}

static void test_parts(void)
{
	for (unsigned round = 0; round < random_rounds(6, 200); round++) {
		g_autoptr(LodeProfile) profile = random_profile();
		g_autoptr(GArray) all = all_of(profile);
		g_autoptr(LodeMemoryGridParts) parts = lode_memory_grid_parts_new(
			profile, (const uint32_t *)(void *)all->data, all->len, NULL);
		for (int i = 0; i < 6; i++) {
			uint64_t bytes = UINT64_C(1) << random_int_range(4, 20);
			uint64_t first = SAMPLE_NODES + (uint64_t)random_int_range(0, 1 << 17);
			uint64_t begin_ns = 900 + (uint64_t)random_int_range(0, 3000);
			LodeMemoryGridPart part = {.first = first,
				.last = first + bytes - 1,
				.begin_ns = begin_ns,
				.end_ns = begin_ns + (uint64_t)random_int_range(0, 3000),
				.n_rows = (uint32_t)random_int_range(1, 129)};
			check_part(profile, all, parts, &part);
		}
	}
}

/* All of time at once, with what has no time, and the ends of all addresses. */
static void test_ends(void)
{
	g_autoptr(LodeProfile) profile = random_profile();
	g_autoptr(GArray) all = all_of(profile);
	const uint32_t *numbers = (const uint32_t *)(void *)all->data;
	g_autoptr(LodeMemoryGridParts)
		parts = lode_memory_grid_parts_new(profile, numbers, all->len, NULL);
	g_autoptr(LodeMemoryGridParts) none = lode_memory_grid_parts_new(profile, numbers, 0, NULL);
	const LodeMemoryGridPart whole = {0, UINT64_MAX, 1, UINT64_MAX, 64};
	const LodeMemoryGridPart byte = {SAMPLE_NODES, SAMPLE_NODES, 1000, 1000, 128};

	check_part(profile, all, parts, &byte);
	g_autoptr(LodeMemoryGrid) grid = lode_memory_grid_new_part(profile, parts, &whole, NULL);
	g_assert_cmpuint(grid->n_samples, >, 0);
	g_assert_true(isfinite(grid->weight));
	g_autoptr(LodeMemoryGrid) empty = lode_memory_grid_new_part(profile, none, &whole, NULL);
	g_assert_cmpuint(empty->n_samples, ==, 0);
	g_assert_cmpuint(empty->n_columns, ==, 0);
}

static void test_stopped(void)
{
	g_autoptr(LodeProfile) profile = random_profile();
	g_autoptr(GArray) all = all_of(profile);
	const uint32_t *numbers = (const uint32_t *)(void *)all->data;
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	const LodeMemoryGridPart whole = {0, UINT64_MAX, 1, UINT64_MAX, 64};
	g_autoptr(LodeMemoryGridParts)
		parts = lode_memory_grid_parts_new(profile, numbers, all->len, &progress);

	g_assert_nonnull(parts);
	g_cancellable_cancel(cancellable);
	g_assert_null(lode_memory_grid_parts_new(profile, numbers, all->len, &progress));
	g_assert_null(lode_memory_grid_new_part(profile, parts, &whole, &progress));
	g_assert_null(lode_memory_grid_new(profile, numbers, all->len, LODE_PAGE_BYTES, &progress));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/memory_grid/parts", test_parts, "R02S00000000000000000000000000000001",
		"R02S00000000000000000000000000000002", NULL);
	g_test_add_func("/memory_grid/ends", test_ends);
	g_test_add_func("/memory_grid/stopped", test_stopped);
	return g_test_run();
}
