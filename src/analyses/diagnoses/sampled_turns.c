/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/sampled_turns.h"

#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/stacks.h"

typedef struct {
	uint64_t time_ns;
	uint32_t thread;
	bool is_within;
} Turn;

LODE_ORDER(compare_turns, Turn, LODE_ASCENDING(thread), LODE_ASCENDING(time_ns))

LodeSampledTurns lode_sampled_turns(const LodeFunctionCosts *costs,
	bool (*is_of)(uint32_t function, const void *data),
	bool (*is_other)(uint32_t stack, const void *data), const void *data)
{
	const LodeStacks *stacks = lode_stacks_of(costs->profile);
	g_autoptr(GArray) turns = g_array_new(FALSE, FALSE, sizeof(Turn));
	LodeSampledTurns out = {0};

	for (guint i = 0; stacks != NULL && costs->stacks != NULL && i < stacks->samples->len;
		i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		Turn turn = {sample->time_ns, sample->thread, false};
		if (sample->event != costs->event || sample->stack >= stacks->stacks->len)
			continue;
		for (uint32_t at = sample->stack; at != LODE_NONE && !turn.is_within;
			at = LODE_AT(stacks->stacks, LodeStack, at).outer)
			turn.is_within = is_of(lode_function_costs_at_stack(costs, at), data);
		out.weight += turn.is_within ? sample->weight : 0;
		if (turn.is_within || is_other == NULL || is_other(sample->stack, data))
			g_array_append_val(turns, turn);
	}
	g_array_sort(turns, compare_turns);
	for (guint i = 1; i < turns->len; i++) {
		const Turn *one = &g_array_index(turns, Turn, i), *before = one - 1;
		out.turns += one->thread == before->thread && one->is_within != before->is_within;
	}
	return out;
}
