/* SPDX-License-Identifier: MIT */
#include "model/placement.h"

static void clear_range(void *data)
{
	LodePlacedRange *range = data;

	g_free(range->object);
	g_free(range->note);
}

static GArray *nowhere(uint32_t n)
{
	GArray *array = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t none = LODE_NONE;
		g_array_append_val(array, none);
	}
	return array;
}

LodePlacement *lode_placement_new(uint32_t n_memories, uint32_t n_threads)
{
	LodePlacement *self = g_new0(LodePlacement, 1);

	g_assert(n_memories <= LODE_PLACEMENT_MAX_MEMORIES);
	g_assert(n_threads <= LODE_PLACEMENT_MAX_THREADS);
	self->n_memories = n_memories;
	self->n_threads = n_threads;
	self->thread_memories = nowhere(n_threads);
	self->thread_cpus = nowhere(n_threads);
	self->ranges = g_array_new(FALSE, FALSE, sizeof(LodePlacedRange));
	g_array_set_clear_func(self->ranges, clear_range);
	return self;
}

void lode_placement_free(LodePlacement *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->ranges);
	g_array_unref(self->thread_cpus);
	g_array_unref(self->thread_memories);
	g_free(self->topology);
	g_free(self);
}

void lode_placement_add(LodePlacement *self, const LodePlacedRange *range)
{
	LodePlacedRange copy = *range;

	copy.object = g_strdup(range->object);
	copy.note = g_strdup(range->note);
	g_array_append_val(self->ranges, copy);
}
