/* SPDX-License-Identifier: MIT */
/* Any bytes as a placement file; what is read is within its own numbers, and is read again from
 * what is written of it. */
#include "fuzz_target.h"
#include "sources/placement_file.h"

#include <stdbool.h>

static void check(const LodePlacement *placement)
{
	for (uint32_t i = 0; i < placement->n_threads; i++) {
		uint32_t memory = lode_placement_thread_memory(placement, i);
		if (memory != LODE_NONE && memory >= placement->n_memories)
			g_error("a thread on no memory");
	}
	for (guint i = 0; i < placement->ranges->len; i++) {
		const LodePlacedRange *range = &LODE_AT(placement->ranges, LodePlacedRange, i);
		bool is_object = range->kind == LODE_PLACE_OBJECT;
		if (range->memory >= placement->n_memories ||
			(is_object ? range->object == NULL : range->start >= range->end))
			g_error("a range is not complete");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePlacement)
		placement = lode_placement_file_read(fuzz_file(data, size), NULL, &error);

	if ((placement == NULL) != (error != NULL))
		g_error("a result and an error");
	if (placement == NULL)
		return 0;
	check(placement);
	g_autoptr(GString) text = g_string_new(NULL), again = g_string_new(NULL);
	lode_placement_file_append(placement, NULL, text);
	g_autoptr(LodePlacement) second = lode_placement_file_read(
		fuzz_file((const uint8_t *)text->str, text->len), NULL, &error);
	if (second == NULL)
		g_error("what was written is not read: %s", error->message);
	lode_placement_file_append(second, NULL, again);
	if (!g_string_equal(text, again))
		g_error("what was written reads as something else");
	return 0;
}
