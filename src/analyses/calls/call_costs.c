/* SPDX-License-Identifier: MIT */
/*
 * Cycles are found by Tarjan's algorithm (R. E. Tarjan, "Depth-first search and linear graph
 * algorithms", 1972), with a stack of its own: a program may call as deep as it likes. It finishes
 * a cycle after all that it calls, so that costs flow in that order from callees to callers.
 */
#include "analyses/calls/call_costs.h"

#include "base/arrays/sort_order.h"
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

typedef LodeCountedCall Call;

typedef struct {
	uint32_t function, next; /* of its calls */
} Visit;

typedef struct {
	const LodeProfile *profile;
	GArray *calls;    /* Call, by caller */
	uint32_t *starts; /* × (functions + 1) */
	uint32_t *order;  /* of each function, when it was first seen, from 1; 0: not yet */
	uint32_t *lowest; /* order of the earliest function that it leads back to */
	uint32_t *cycle;  /* of each function, once it is finished; LODE_NONE before */
	GArray *path;     /* Visit */
	GArray *pending;  /* uint32_t: functions whose cycle is not finished */
	uint32_t n_seen, n_cycles;
} Search;

LODE_ORDER(compare_calls, Call, LODE_ASCENDING(caller), LODE_ASCENDING(edge))

/* "[endbr64] [bnd] jmp *slot", and the first entry of a table, "push; jmp *slot". */
static bool is_stub_code(GBytes *code)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	enum { PUSH_BYTES = 6 };
	size_t size = 0, at = 0;
	const uint8_t *bytes = code != NULL ? g_bytes_get_data(code, &size) : NULL;

	if (size >= 2 && bytes[0] == 0xff && bytes[1] == 0x35)
		at = PUSH_BYTES;
	else if (size >= sizeof(endbr64) && memcmp(bytes, endbr64, sizeof(endbr64)) == 0)
		at = sizeof(endbr64);
	if (at < size && bytes[at] == 0xf2)
		at++;
	return at + 2 <= size && bytes[at] == 0xff && bytes[at + 1] == 0x25;
}

bool lode_function_is_stub(const LodeFunction *function, const char *name)
{
	return g_str_has_suffix(name, "@plt") ||
	       (function != NULL && function->source == LODE_FUNCTION_UNWIND &&
		       is_stub_code(function->code));
}

/* Whether it leads from the dynamic linker to a function that this has bound: its last instruction
 * jumps there. Recordings may have the jump as a call. */
static bool is_binding(const LodeProfile *profile, const LodeEdge *edge)
{
	const LodeFunction *function = lode_profile_function(
		profile, lode_profile_instruction(profile, edge->source)->function);

	return edge->kind <= LODE_EDGE_CALL &&
	       edge->source + 1 == function->first_instruction + function->n_instructions &&
	       g_str_has_prefix(function->name, "_dl_runtime_resolve");
}

/* Where a call is of so few of those that are made here, and of those that are made of the
 * function, it can have next to no cost, but would make cycles. */
#define RARE 1e-3

static bool is_call(const LodeProfile *profile, const LodeEdge *edge, bool has_tail_calls)
{
	const LodeInstruction *source = lode_profile_instruction(profile, edge->source);
	const LodeInstruction *target = lode_profile_instruction(profile, edge->target);

	if (!has_tail_calls)
		return edge->kind == LODE_EDGE_CALL;
	bool is_tail_call = edge->kind <= LODE_EDGE_JUMP && source->function != target->function &&
	                    target->address ==
	                            lode_profile_function(profile, target->function)->address;
	bool is_rare = edge->count < RARE * source->count && edge->count < RARE * target->count;
	return (edge->kind == LODE_EDGE_CALL || is_tail_call) && !is_rare &&
	       !is_binding(profile, edge);
}

/* The functions that were bound when they were first called, by their names: a number + 1, or 0
 * where several have one name. */
static GHashTable *list_bound(const LodeProfile *profile)
{
	GHashTable *bound = g_hash_table_new(g_str_hash, g_str_equal);

	for (uint32_t i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		uint32_t target = lode_profile_instruction(profile, edge->target)->function;
		const LodeFunction *function = lode_profile_function(profile, target);
		const char *name = function->symbol != NULL ? function->symbol : function->name;
		void *known;
		if (!is_binding(profile, edge))
			continue;
		bool is_other = g_hash_table_lookup_extended(bound, name, NULL, &known) &&
		                GPOINTER_TO_UINT(known) != target + 1;
		g_hash_table_insert(
			bound, (char *)name, GUINT_TO_POINTER(is_other ? 0 : target + 1));
	}
	return bound;
}

/* Stubs that were used once jump to the dynamic linker only. */
static void add_bound_calls(Search *self)
{
	const LodeProfile *profile = self->profile;
	g_autoptr(GHashTable) bound = list_bound(profile);
	guint n = self->calls->len;
	g_autofree bool *is_known = g_new0(bool, MAX(profile->code.functions->len, 1));

	for (guint i = 0; i < n; i++) {
		const Call *call = &g_array_index(self->calls, Call, i);
		const LodeFunction *callee = lode_profile_function(profile, call->callee);
		if (!lode_function_is_stub(callee, callee->name))
			is_known[call->caller] = true;
	}
	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *stub = lode_profile_function(profile, i);
		const char *symbol = stub->symbol != NULL ? stub->symbol : stub->name;
		if (is_known[i] || stub->n_instructions == 0 || !g_str_has_suffix(symbol, "@plt"))
			continue;
		g_autofree char *name = g_strndup(symbol, strlen(symbol) - strlen("@plt"));
		uint32_t callee = GPOINTER_TO_UINT(g_hash_table_lookup(bound, name));
		const Call call = {i, callee - 1, LODE_NONE,
			lode_profile_instruction(profile, stub->first_instruction)->count, 0};
		if (callee != 0 && call.count > 0)
			g_array_append_val(self->calls, call);
	}
}

static void list_calls(Search *self, bool has_tail_calls)
{
	const LodeProfile *profile = self->profile;
	guint n = profile->code.functions->len;

	for (uint32_t i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		const Call call = {lode_profile_instruction(profile, edge->source)->function,
			lode_profile_instruction(profile, edge->target)->function, i, edge->count,
			0};
		if (edge->count > 0 && is_call(profile, edge, has_tail_calls))
			g_array_append_val(self->calls, call);
	}
	if (has_tail_calls)
		add_bound_calls(self);
	if (self->calls->len > 1)
		qsort(self->calls->data, self->calls->len, sizeof(Call), compare_calls);
	for (guint i = 0, at = 0; i <= n; i++) {
		while (at < self->calls->len && g_array_index(self->calls, Call, at).caller < i)
			at++;
		self->starts[i] = at;
	}
}

static void enter(Search *self, uint32_t function)
{
	const Visit visit = {function, self->starts[function]};

	self->order[function] = self->lowest[function] = ++self->n_seen;
	g_array_append_val(self->path, visit);
	g_array_append_val(self->pending, function);
}

/* Takes the functions of a finished cycle; most are one function. */
static void finish(Search *self, uint32_t function)
{
	uint32_t member;

	do {
		member = g_array_index(self->pending, uint32_t, self->pending->len - 1);
		g_array_set_size(self->pending, self->pending->len - 1);
		self->cycle[member] = self->n_cycles;
	} while (member != function);
	self->n_cycles++;
}

static void search_from(Search *self, uint32_t root)
{
	enter(self, root);
	while (self->path->len > 0) {
		Visit *visit = &g_array_index(self->path, Visit, self->path->len - 1);
		uint32_t function = visit->function;
		if (visit->next < self->starts[function + 1]) {
			uint32_t callee = g_array_index(self->calls, Call, visit->next++).callee;
			if (self->order[callee] == 0)
				enter(self, callee);
			else if (self->cycle[callee] == LODE_NONE)
				self->lowest[function] = MIN(
					self->lowest[function], self->order[callee]);
			continue;
		}
		if (self->lowest[function] == self->order[function])
			finish(self, function);
		g_array_set_size(self->path, self->path->len - 1);
		if (self->path->len > 0) {
			uint32_t caller =
				g_array_index(self->path, Visit, self->path->len - 1).function;
			self->lowest[caller] = MIN(self->lowest[caller], self->lowest[function]);
		}
	}
}

static void find_cycles(Search *self)
{
	guint n = self->profile->code.functions->len;

	for (guint i = 0; i < n; i++)
		self->cycle[i] = LODE_NONE;
	for (guint i = 0; i < n; i++)
		if (self->order[i] == 0)
			search_from(self, i);
}

/* The own cost of each cycle. */
static double *own_costs(const Search *self, uint32_t event)
{
	const LodeProfile *profile = self->profile;
	double *costs = g_new0(double, MAX(self->n_cycles, 1));

	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		costs[self->cycle[lode_profile_instruction(profile, i)->function]] +=
			lode_profile_event_value(profile, event, i);
	return costs;
}

static int compare_cycles(const void *a, const void *b, void *data)
{
	const Search *self = data;
	const Call *left = &g_array_index(self->calls, Call, *(const uint32_t *)a);
	const Call *right = &g_array_index(self->calls, Call, *(const uint32_t *)b);
	uint32_t left_cycle = self->cycle[left->callee], right_cycle = self->cycle[right->callee];

	if (left_cycle != right_cycle)
		return left_cycle < right_cycle ? -1 : 1;
	return compare_calls(left, right);
}

/* Handles callees before callers: the cost of a cycle is complete before the first call into it is
 * handled. */
static void share_out(const Search *self, double *costs)
{
	guint n = self->calls->len;
	g_autofree uint32_t *order = g_new(uint32_t, MAX(n, 1));
	g_autofree double *counts = g_new0(double, MAX(self->n_cycles, 1));
	guint n_outer = 0;

	for (guint i = 0; i < n; i++) {
		const Call *call = &g_array_index(self->calls, Call, i);
		if (self->cycle[call->caller] == self->cycle[call->callee])
			continue;
		counts[self->cycle[call->callee]] += call->count;
		order[n_outer++] = i;
	}
	if (n_outer > 1)
		g_qsort_with_data(
			order, (gint)n_outer, sizeof(uint32_t), compare_cycles, (void *)self);
	for (guint i = 0; i < n_outer; i++) {
		Call *call = &g_array_index(self->calls, Call, order[i]);
		uint32_t callee = self->cycle[call->callee];
		call->cost = costs[callee] * (call->count / counts[callee]);
		costs[self->cycle[call->caller]] += call->cost;
	}
}

void lode_call_costs_init(
	LodeCallCosts *self, const LodeProfile *profile, uint32_t event, bool has_tail_calls)
{
	guint n = profile->code.functions->len;
	Search search = {
		.profile = profile,
		.calls = g_array_new(FALSE, FALSE, sizeof(Call)),
		.starts = g_new(uint32_t, n + 1),
		.order = g_new0(uint32_t, MAX(n, 1)),
		.lowest = g_new0(uint32_t, MAX(n, 1)),
		.cycle = g_new(uint32_t, MAX(n, 1)),
		.path = g_array_new(FALSE, FALSE, sizeof(Visit)),
		.pending = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};

	list_calls(&search, has_tail_calls);
	find_cycles(&search);
	g_autofree double *costs = own_costs(&search, event);
	share_out(&search, costs);
	*self = (LodeCallCosts){search.calls, g_new(double, MAX(n, 1))};
	for (guint i = 0; i < n; i++)
		self->inclusive[i] = costs[search.cycle[i]];
	g_array_unref(search.path);
	g_array_unref(search.pending);
	g_free(search.starts);
	g_free(search.order);
	g_free(search.lowest);
	g_free(search.cycle);
}

void lode_call_costs_clear(LodeCallCosts *self)
{
	if (self->calls != NULL)
		g_array_unref(self->calls);
	g_free(self->inclusive);
	*self = (LodeCallCosts){0};
}

double *lode_call_costs_new(const LodeProfile *profile, uint32_t event)
{
	g_auto(LodeCallCosts) costs = {0};
	double *result = g_new0(double, MAX(profile->code.edges->len, 1));

	lode_call_costs_init(&costs, profile, event, false);
	for (guint i = 0; i < costs.calls->len; i++) {
		const Call *call = &g_array_index(costs.calls, Call, i);
		result[call->edge] = call->cost;
	}
	return result;
}
