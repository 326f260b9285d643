/* SPDX-License-Identifier: MIT */
#include "analyses/calls/called_names.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sum_table.h"
#include "model/code.h"
#include "model/lines/own_lines.h"
#include "model/stacks.h"

#include <string.h>

typedef struct {
	LodeFunctionCosts *costs;
	GHashTable *votes; /* "function name" → double *, for it */
	double *most;      /* of each function of the profile */
} Search;

/* A function of a library without a name of its own. */
static bool is_nameless(const LodeFunctionCosts *costs, uint32_t function)
{
	return function < lode_code_of(costs->profile)->functions->len &&
	       lode_profile_function(costs->profile, function)->source == LODE_FUNCTION_UNWIND &&
	       !lode_function_cost_at(costs, function)->is_stub &&
	       lode_is_system_library(lode_function_cost_at(costs, function)->image);
}

static void vote(Search *self, uint32_t function, const char *stub, double weight)
{
	if (!g_str_has_suffix(stub, "@plt"))
		return;
	g_autofree char *name = g_strndup(stub, strlen(stub) - strlen("@plt"));
	g_autofree char *key = g_strdup_printf("%u %s", function, name);
	double *sum = lode_sum_at_text(self->votes, key);

	*sum += weight;
	if (*sum <= self->most[function])
		return;
	self->most[function] = *sum;
	LodeFunctionCost *one = &g_array_index(self->costs->functions, LodeFunctionCost, function);
	one->called = g_string_chunk_insert_const(self->costs->strings, name);
}

const char *lode_called_names_stub(const LodeFunctionCosts *costs, uint32_t stack)
{
	const LodeProfile *profile = costs->profile;
	const LodeEdge *edges = (const LodeEdge *)(void *)lode_code_of(profile)->edges->data;
	uint32_t source = lode_function_costs_call_around(costs, stack);

	if (source == LODE_NONE)
		return NULL;
	size_t at = LODE_PARTITION_POINT(
		lode_code_of(profile)->edges->len, i, edges[i].source < source);
	for (; at < lode_code_of(profile)->edges->len && edges[at].source == source; at++)
		if (edges[at].kind == LODE_EDGE_CALL)
			return lode_profile_function(profile,
				lode_profile_instruction(profile, edges[at].target)->function)
			        ->name;
	return NULL;
}

static void ask_stacks(Search *self)
{
	const GArray *stacks = lode_stacks_of(self->costs->profile)->stacks;

	for (uint32_t i = 0; i < stacks->len; i++) {
		uint32_t called = lode_function_costs_at_stack(self->costs, i);
		const char *stub = is_nameless(self->costs, called)
		                           ? lode_called_names_stub(self->costs, i)
		                           : NULL;
		if (stub != NULL)
			vote(self, called, stub, 1);
	}
}

static void ask_calls(Search *self)
{
	for (guint i = 0; i < self->costs->counted.calls->len; i++) {
		const LodeCountedCall *call = &g_array_index(
			self->costs->counted.calls, LodeCountedCall, i);
		if (is_nameless(self->costs, call->callee))
			vote(self, call->callee,
				lode_function_cost_at(self->costs, call->caller)->name,
				call->count);
	}
}

void lode_called_names_find(LodeFunctionCosts *self)
{
	Search search = {self, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
		g_new0(double, lode_code_of(self->profile)->functions->len + 1)};

	if (self->stacks != NULL)
		ask_stacks(&search);
	if (self->counted.calls != NULL)
		ask_calls(&search);
	g_hash_table_unref(search.votes);
	g_free(search.most);
}
