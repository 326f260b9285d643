/* SPDX-License-Identifier: MIT */
#include "store/profile_check.h"

#include "base/error.h"

#include <math.h>

/* Sets the error for row `index` + 1 and gives false. */
static bool broken(GError **error, const char *table, size_t index, const char *what)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "table '%s', row %zu: %s", table,
		index + 1, what);
	return false;
}

static bool is_amount(double value)
{
	return isfinite(value) && value >= 0;
}

static bool broken_amount(GError **error, const char *table, size_t index)
{
	return broken(error, table, index, "an amount is negative or not finite");
}

static bool check_event(const LodeProfile *profile, guint index, GError **error)
{
	const LodeEvent *event = lode_profile_event(profile, index);

	if (event->name == NULL)
		return broken(error, "event", index, "it has no name");
	if (!isfinite(event->total))
		return broken(error, "event", index, "its total is not finite");
	if ((event->terms != NULL) != (event->kind == LODE_EVENT_DERIVED))
		return broken(error, "event", index, "terms are for derived events");
	for (guint i = 0; event->terms != NULL && i < event->terms->len; i++) {
		const LodeEventTerm *term = &LODE_AT(event->terms, LodeEventTerm, i);
		if (term->event >= profile->events->len || !isfinite(term->factor) ||
			lode_profile_event(profile, term->event)->kind == LODE_EVENT_DERIVED)
			return broken(error, "event", index, "a term is broken");
	}
	return true;
}

static bool check_events(const LodeProfile *profile, GError **error)
{
	for (guint i = 0; i < profile->events->len; i++)
		if (!check_event(profile, i, error))
			return false;
	bool has_weight = profile->weight_event < profile->events->len;
	if (!has_weight && (profile->weight_event != LODE_NONE || profile->events->len > 0)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"table 'meta': the weight event is missing");
		return false;
	}
	if (is_amount(profile->total_count) && is_amount(profile->n_samples) &&
		is_amount(profile->inflow_checked) && is_amount(profile->inflow_equal))
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"table 'meta': a total is negative or not finite");
	return false;
}

static bool check_images(const LodeProfile *profile, GError **error)
{
	for (guint i = 0; i < profile->images->len; i++)
		if (lode_profile_image(profile, i)->path == NULL)
			return broken(error, "image", i, "it has no path");
	return true;
}

/* `first` and `n` continue at `*inout_next` and end inside `length`; an empty range may start
 * anywhere. */
static bool is_next_range(uint32_t first, uint32_t n, uint64_t *inout_next, size_t length)
{
	if (n == 0)
		return true;
	if (first != *inout_next)
		return false;
	*inout_next += n;
	return *inout_next <= length;
}

static bool check_function(const LodeProfile *profile, guint index, GError **error)
{
	const LodeFunction *function = lode_profile_function(profile, index);

	if (function->image >= profile->images->len)
		return broken(error, "function", index, "its image does not exist");
	if (function->name == NULL)
		return broken(error, "function", index, "it has no name");
	if (function->size > INT64_MAX || function->size > UINT64_MAX - function->address)
		return broken(error, "function", index, "its end is out of range");
	if (function->code != NULL && g_bytes_get_size(function->code) > function->size)
		return broken(error, "function", index, "its code is longer than it");
	if (!is_amount(function->calls))
		return broken_amount(error, "function", index);
	return true;
}

static bool check_functions(const LodeProfile *profile, GError **error)
{
	uint64_t instruction = 0, block = 0;

	for (guint i = 0; i < profile->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		if (!check_function(profile, i, error))
			return false;
		if (!is_next_range(function->first_instruction, function->n_instructions,
			    &instruction, profile->instructions->len))
			return broken(error, "function", i, "its instructions are not its own");
		if (!is_next_range(function->first_block, function->n_blocks, &block,
			    profile->blocks->len))
			return broken(error, "function", i, "its blocks are not its own");
	}
	if (instruction != profile->instructions->len)
		return broken(error, "instruction", instruction, "its function does not exist");
	if (block != profile->blocks->len)
		return broken(error, "block", block, "its function does not exist");
	return true;
}

/* Whether row `index` of `function` belongs to it by the function's own range. */
static bool is_of_function(
	const LodeProfile *profile, uint32_t function, guint index, bool is_block)
{
	if (function >= profile->functions->len)
		return false;
	const LodeFunction *owner = lode_profile_function(profile, function);
	uint32_t first = is_block ? owner->first_block : owner->first_instruction;
	uint32_t n = is_block ? owner->n_blocks : owner->n_instructions;
	return index >= first && index - first < n;
}

static bool check_blocks(const LodeProfile *profile, GError **error)
{
	for (guint i = 0; i < profile->blocks->len; i++) {
		const LodeBlock *block = lode_profile_block(profile, i);
		if (!is_of_function(profile, block->function, i, true))
			return broken(error, "block", i, "its function does not hold it");
		if (block->end < block->address)
			return broken(error, "block", i, "it ends before it begins");
		if (!is_amount(block->count))
			return broken_amount(error, "block", i);
		if (i > 0 && block[-1].function == block->function &&
			block[-1].address > block->address)
			return broken(error, "block", i, "it is not in the order of addresses");
	}
	return true;
}

static bool check_instruction_references(
	const LodeProfile *profile, const LodeInstruction *instruction, guint index, GError **error)
{
	if (!is_of_function(profile, instruction->function, index, false))
		return broken(error, "instruction", index, "its function does not hold it");
	if (instruction->block != LODE_NONE &&
		(instruction->block >= profile->blocks->len ||
			lode_profile_block(profile, instruction->block)->function !=
				instruction->function))
		return broken(error, "instruction", index, "its block is not of its function");
	if (instruction->attribute_set >= profile->attribute_sets->len)
		return broken(error, "instruction", index, "its attribute set does not exist");
	if (instruction->location != LODE_NONE && instruction->location >= profile->locations->len)
		return broken(error, "instruction", index, "its location does not exist");
	return true;
}

static bool check_instructions(const LodeProfile *profile, GError **error)
{
	guint n = profile->instructions->len;

	for (guint i = 0; i < n; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(profile, i);
		bool has_next = i + 1 < n && instruction[1].function == instruction->function;
		if (!check_instruction_references(profile, instruction, i, error))
			return false;
		if (has_next && instruction[1].address < instruction->address)
			return broken(
				error, "instruction", i + 1, "it is not in the order of addresses");
		if (!is_amount(instruction->count))
			return broken_amount(error, "instruction", i);
		if (instruction->next_count == -1)
			continue;
		if (!is_amount(instruction->next_count))
			return broken_amount(error, "instruction", i);
		if (!has_next)
			return broken(error, "instruction", i,
				"next_count, but it is the last of its function");
	}
	return true;
}

static bool check_cost(const LodeProfile *profile, guint index, bool is_first, GError **error)
{
	const LodeCost *cost = &LODE_AT(profile->costs, LodeCost, index);

	if (cost->event >= profile->events->len ||
		!lode_event_kind_has_costs(lode_profile_event(profile, cost->event)->kind))
		return broken(error, "cost", index, "its event does not exist or has no costs");
	if (!is_first && cost[-1].event >= cost->event)
		return broken(error, "cost", index, "it is not in the order of events");
	if (!is_amount(cost->value))
		return broken_amount(error, "cost", index);
	return true;
}

static bool check_costs(const LodeProfile *profile, GError **error)
{
	guint n = profile->instructions->len;
	uint32_t next = 0;

	if (profile->cost_starts->len != (size_t)n + 1)
		return broken(error, "cost", 0, "not one range of costs for each instruction");
	for (guint i = 0; i < n; i++) {
		uint32_t end = LODE_AT(profile->cost_starts, uint32_t, i + 1);
		if (LODE_AT(profile->cost_starts, uint32_t, i) != next || end < next ||
			end > profile->costs->len)
			return broken(error, "cost", next, "a range of costs is out of bounds");
		for (uint32_t k = next; k < end; k++)
			if (!check_cost(profile, k, k == next, error))
				return false;
		next = end;
	}
	if (next != profile->costs->len)
		return broken(error, "cost", next, "its instruction does not exist");
	return true;
}

static bool is_edge_before(const LodeEdge *a, const LodeEdge *b)
{
	if (a->source != b->source)
		return a->source < b->source;
	if (a->target != b->target)
		return a->target < b->target;
	return a->kind <= b->kind;
}

static bool check_edges(const LodeProfile *profile, GError **error)
{
	guint n = profile->instructions->len;

	for (guint i = 0; i < profile->edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->edges, LodeEdge, i);
		if (edge->source >= n || edge->target >= n)
			return broken(error, "edge", i, "an instruction does not exist");
		if (!is_amount(edge->count))
			return broken_amount(error, "edge", i);
		if (i > 0 && !is_edge_before(edge - 1, edge))
			return broken(error, "edge", i,
				"it is not in the order of source, target and kind");
	}
	return true;
}

static bool check_attribute_sets(const LodeProfile *profile, GError **error)
{
	uint64_t next = 0;

	for (guint i = 0; i < profile->attribute_sets->len; i++) {
		LodeAttributeSet set = LODE_AT(profile->attribute_sets, LodeAttributeSet, i);
		if (!is_next_range(set.first, set.n, &next, profile->set_members->len))
			return broken(error, "attribute_set", i, "its members are not its own");
		for (uint32_t k = 0; k < set.n; k++) {
			const uint32_t *member = &LODE_AT(
				profile->set_members, uint32_t, set.first + k);
			if (*member >= profile->attributes->len)
				return broken(
					error, "attribute_set", i, "an attribute does not exist");
			if (k > 0 && member[-1] >= *member)
				return broken(
					error, "attribute_set", i, "its members are not in order");
		}
	}
	if (next != profile->set_members->len)
		return broken(error, "attribute_set_member", next, "its set does not exist");
	return true;
}

static bool check_unresolved(const LodeProfile *profile, GError **error)
{
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (row->reason == NULL)
			return broken(error, "unresolved", i, "it has no reason");
		if (!is_amount(row->count) || !is_amount(row->weight) || !is_amount(row->samples))
			return broken_amount(error, "unresolved", i);
	}
	return true;
}

bool lode_profile_check(const LodeProfile *profile, GError **error)
{
	return check_events(profile, error) && check_images(profile, error) &&
	       check_functions(profile, error) && check_blocks(profile, error) &&
	       check_attribute_sets(profile, error) && check_instructions(profile, error) &&
	       check_costs(profile, error) && check_edges(profile, error) &&
	       check_unresolved(profile, error);
}
