/* SPDX-License-Identifier: MIT */
#include "ingest/join/attributes/dependences.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/code.h"

LODE_ORDER(compare_pairs, LodeLoopPair, LODE_ASCENDING(function), LODE_ASCENDING(nodes[0]),
	LODE_ASCENDING(nodes[1]), LODE_ASCENDING(pair->time_ns))

/* The call that ends with a place; LODE_NONE: it is not in the profile. */
static uint32_t find_call(const LodeProfile *profile, uint32_t image, uint64_t address)
{
	uint32_t function = lode_join_find_function(profile, image, address);

	if (function == LODE_NONE)
		return LODE_NONE;
	const LodeFunction *found = lode_profile_function(profile, function);
	const LodeInstruction *own = lode_profile_instruction(profile, found->first_instruction);
	uint32_t at = LODE_PARTITION_POINT(found->n_instructions, i, own[i].address <= address);
	return at > 0 && own[at - 1].address + own[at - 1].size == address + 1
	               ? found->first_instruction + at - 1
	               : LODE_NONE;
}

GArray *lode_loop_pairs_find(const LodeProfile *profile, const LodeJoinImages *images)
{
	GArray *pairs = g_array_new(FALSE, FALSE, sizeof(LodeLoopPair));
	const GArray *list = images->context->pairs != NULL
	                             ? lode_sample_pairs_list(images->context->pairs)
	                             : NULL;

	for (guint i = 0; list != NULL && i < list->len; i++) {
		const LodeSamplePair *pair = &LODE_AT(list, LodeSamplePair, i);
		LodeLoopPair added = {
			.called = pair->is_of_caller
		                          ? lode_join_find(profile,
						    lode_join_image_of(images, pair->called.image),
						    pair->called.address)
		                          : LODE_NONE,
			.called_function = LODE_NONE,
			.pair = pair,
		};
		if (added.called != LODE_NONE)
			added.called_function =
				lode_profile_instruction(profile, added.called)->function;
		uint32_t function = LODE_NONE;
		bool is_found = true;
		for (unsigned k = 0; k < 2 && is_found; k++) {
			const LodePlace *place = &pair->places[k];
			uint32_t image = lode_join_image_of(images, place->image);
			uint32_t found = pair->is_of_caller
			                         ? find_call(profile, image, place->address)
			                         : lode_join_find(profile, image, place->address);
			is_found = found != LODE_NONE;
			if (!is_found)
				continue;
			function = lode_profile_instruction(profile, found)->function;
			is_found = k == 0 || function == added.function;
			added.function = function;
			added.nodes[k] =
				found - lode_profile_function(profile, function)->first_instruction;
		}
		if (is_found)
			g_array_append_val(pairs, added);
	}
	g_array_sort(pairs, compare_pairs);
	return pairs;
}

const LodeLoopPair *lode_loop_pairs_of(const GArray *all, uint32_t function, size_t *out_n)
{
	const LodeLoopPair *pairs = (const LodeLoopPair *)(const void *)all->data;
	guint n = all->len;
	guint first = LODE_PARTITION_POINT(n, i, pairs[i].function < function);
	guint end = LODE_PARTITION_POINT(n, i, pairs[i].function <= function);

	*out_n = end - first;
	return pairs + first;
}
