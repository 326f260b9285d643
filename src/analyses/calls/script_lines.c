/* SPDX-License-Identifier: MIT */
#include "analyses/calls/script_lines.h"

#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/lines/own_lines.h"
#include "model/stacks.h"

static const LodeFrame *frame_at(const LodeStacks *stacks, uint32_t stack)
{
	return &LODE_AT(stacks->frames, LodeFrame, LODE_AT(stacks->stacks, LodeStack, stack).frame);
}

uint32_t *lode_script_lines_owners(const LodeFunctionCosts *costs)
{
	const LodeStacks *stacks = lode_stacks_of(costs->profile);
	uint32_t *owners = g_new(uint32_t, MAX(stacks->stacks->len, 1));

	for (uint32_t i = 0; i < stacks->stacks->len; i++) {
		const LodeFunctionCost *one = lode_function_cost_at(
			costs, lode_function_costs_at_stack(costs, i));
		uint32_t outer = LODE_AT(stacks->stacks, LodeStack, i).outer;
		const LodeFrame *frame = frame_at(stacks, i);
		bool is_line = one->script_line > 0 && frame->file != NULL && frame->line > 0 &&
		               !lode_is_toolchain_file(frame->file);
		owners[i] = is_line ? i : outer != LODE_NONE ? owners[outer] : LODE_NONE;
	}
	return owners;
}

LODE_ORDER(compare_lines, LodeScriptLine, LODE_ASCENDING(function), LODE_ASCENDING(line))

static void join_equal(GArray *lines)
{
	guint n = 0;

	g_array_sort(lines, compare_lines);
	for (guint i = 0; i < lines->len; i++) {
		const LodeScriptLine *line = &g_array_index(lines, LodeScriptLine, i);
		LodeScriptLine *last = n > 0 ? &g_array_index(lines, LodeScriptLine, n - 1) : NULL;
		if (last != NULL && compare_lines(last, line) == 0)
			last->cost += line->cost;
		else
			g_array_index(lines, LodeScriptLine, n++) = *line;
	}
	g_array_set_size(lines, n);
}

static bool is_in_extension(
	const LodeFunctionCosts *costs, const uint32_t *family_of, uint32_t stack)
{
	uint32_t innermost = lode_function_costs_at_stack(costs, stack);

	return family_of[innermost] == LODE_NONE &&
	       lode_is_python_extension(lode_function_cost_at(costs, innermost)->image);
}

GArray *lode_script_lines_costs(const LodeFunctionCosts *costs, const uint32_t *family_of)
{
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(LodeScriptLine));

	if (costs->source != LODE_CALLS_FROM_STACKS || !lode_function_costs_have_scripts(costs))
		return lines;
	const LodeStacks *stacks = lode_stacks_of(costs->profile);
	g_autofree uint32_t *owners = lode_script_lines_owners(costs);
	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		uint32_t owner = sample->event == costs->event && sample->stack != LODE_NONE
		                         ? owners[sample->stack]
		                         : LODE_NONE;
		if (owner == LODE_NONE || is_in_extension(costs, family_of, sample->stack))
			continue;
		const LodeFrame *frame = frame_at(stacks, owner);
		const LodeScriptLine line = {lode_function_costs_at_stack(costs, owner),
			frame->line, frame->file, sample->weight};
		g_array_append_val(lines, line);
	}
	join_equal(lines);
	return lines;
}
