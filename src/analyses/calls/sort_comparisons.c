/* SPDX-License-Identifier: MIT */
#include "analyses/calls/sort_comparisons.h"

#include "analyses/calls/special_members.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/lines/own_lines.h"
#include "model/stacks.h"

/* The part of a function's known callers that are sorts or comparisons. */
static const double MOST_CALLERS = 0.8;
/* Samples of which the caller is known, at least. */
static const double LEAST_SAMPLES = 5;
/* Functions that comparisons call, and what these call. */
enum { MOST_DEPTH = 4 };

typedef struct {
	double known, sorts, samples; /* callers: all, of them sorts and comparisons */
	bool is_sort;
	bool is_own; /* its lines are the user's, or not known */
} Function;

typedef struct {
	LodeSortComparisons *out;
	const LodeFunctionCosts *costs;
	const LodeOwnLines *own;
	const LodeStacks *stacks;
	Function *functions;
	double *costs_of, *samples_of; /* of each stack and those that it calls */
	bool *is_first;                /* of each stack: own, and a sort calls it */
	bool *is_within;               /* it is, or one around it */
} Search;

static bool is_sort(const char *function)
{
	static const char *const patterns[] = {"*std::__introsort_loop<*",
		"*std::__insertion_sort<*", "*std::__unguarded_*", "*std::__final_insertion_sort<*",
		"*std::__heap_select<*", "*std::__merge_*", "*std::__move_merge*",
		"*std::__chunk_insertion_sort<*", "*std::__inplace_stable_*",
		"*std::__move_median_to_first<*", "*std::sort<*", "*std::stable_sort<*",
		"*std::__sort<*", "*std::__stable_sort*", "qsort", "qsort_r", "msort_with_tmp*",
		"g_*_sort*", "*core::slice::sort::*", "*alloc::slice::*sort*",
		"*core::slice::*sort*", "java.util.TimSort.*", "java.util.Arrays.*ort*",
		"Builtins_ArrayTimSort*", "Builtins_ArrayPrototypeSort*", "Builtins_SortCompare*",
		"keyobject_richcompare*", "sort.*ort*", "slices.*ort*"};
	/* Which computes a key once for each element. */
	bool is_cached = g_pattern_match_simple("*cached_key*", function), is_any = false;

	for (size_t i = 0; i < G_N_ELEMENTS(patterns) && !is_any && !is_cached; i++)
		is_any = g_pattern_match_simple(patterns[i], function);
	return is_any;
}

static uint32_t function_of(const Search *self, uint32_t stack)
{
	return lode_function_costs_at_stack(self->costs, stack);
}

static uint32_t outer_of(const Search *self, uint32_t stack)
{
	return LODE_AT(self->stacks->stacks, LodeStack, stack).outer;
}

/* Outer stacks come first. */
static void sum_stacks(Search *self)
{
	const LodeStacks *stacks = self->stacks;

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event != self->costs->event || sample->stack >= stacks->stacks->len)
			continue;
		self->costs_of[sample->stack] += sample->weight;
		self->samples_of[sample->stack] += 1.0 + sample->n_more;
	}
	for (uint32_t i = stacks->stacks->len; i-- > 0;) {
		uint32_t outer = outer_of(self, i);
		if (outer == LODE_NONE)
			continue;
		self->costs_of[outer] += self->costs_of[i];
		self->samples_of[outer] += self->samples_of[i];
	}
}

static bool is_own_frame(const Search *self, uint32_t stack)
{
	const LodeFrame *frame = &LODE_AT(self->stacks->frames, LodeFrame,
		LODE_AT(self->stacks->stacks, LodeStack, stack).frame);
	const LodeFunctionCost *one = lode_function_cost_at(self->costs, function_of(self, stack));

	/* Sorts also move elements. */
	return one->is_own && !lode_is_special_member(one->name) &&
	       lode_object_work_of(one->name) == LODE_OBJECT_WORK_NONE &&
	       (frame->file == NULL || lode_own_lines_is_own_file(self->own, frame->file));
}

/* Adds the callers of all functions. */
static void add_callers(Search *self)
{
	for (guint i = 0; i < self->costs->functions->len; i++)
		self->functions[i].known = self->functions[i].sorts = self->functions[i].samples =
			0;
	for (uint32_t i = 0; i < self->stacks->stacks->len; i++) {
		uint32_t outer = outer_of(self, i);
		if (outer == LODE_NONE || !(self->costs_of[i] > 0))
			continue;
		uint32_t callee = function_of(self, i), caller = function_of(self, outer);
		if (callee == caller)
			continue;
		Function *one = &self->functions[callee];
		/* Lambdas that are inlined have one name, whoever calls them. */
		bool is_compared = self->is_first[i] || self->is_within[outer] ||
		                   self->out->is_of[caller];
		one->known += self->costs_of[i];
		one->samples += self->samples_of[i];
		one->sorts += is_compared ? self->costs_of[i] : 0;
	}
}

/* Between a sort and what it calls lie its library's other functions. */
static void mark_first(Search *self)
{
	guint n = self->stacks->stacks->len;
	g_autofree bool *is_sorting = g_new0(bool, MAX(n, 1));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t outer = outer_of(self, i);
		bool is_own = is_own_frame(self, i), is_around = outer != LODE_NONE;
		bool sorts = is_around && is_sorting[outer];
		is_sorting[i] = self->functions[function_of(self, i)].is_sort || (sorts && !is_own);
		self->is_first[i] = sorts && is_own && !is_sorting[i];
		self->is_within[i] = self->is_first[i] || (is_around && self->is_within[outer]);
	}
}

static bool find_more(Search *self)
{
	bool is_more = false;

	for (uint32_t i = 0; i < self->costs->functions->len; i++) {
		const Function *one = &self->functions[i];
		if (self->out->is_of[i] || one->is_sort || one->samples < LEAST_SAMPLES ||
			one->sorts < MOST_CALLERS * one->known || !one->is_own)
			continue;
		self->out->is_of[i] = true;
		is_more = true;
	}
	return is_more;
}

static void add_line(Search *self, uint32_t stack)
{
	const LodeFrame *frame = &LODE_AT(self->stacks->frames, LodeFrame,
		LODE_AT(self->stacks->stacks, LodeStack, stack).frame);
	bool is_own = frame->file != NULL && lode_own_lines_is_own_file(self->own, frame->file);
	const LodeSortComparison added = {function_of(self, stack), is_own ? frame->file : NULL,
		is_own ? frame->line : 0, self->costs_of[stack]};

	for (guint i = 0; i < self->out->lines->len; i++) {
		LodeSortComparison *line = &g_array_index(self->out->lines, LodeSortComparison, i);
		if (line->function == added.function && line->line == added.line) {
			line->cost += added.cost;
			return;
		}
	}
	g_array_append_val(self->out->lines, added);
}

LODE_ORDER(compare_lines, LodeSortComparison, LODE_DESCENDING(cost), LODE_ASCENDING(function),
	LODE_ASCENDING(line))

/* The outermost stack of comparisons on each, and the lines of those that sorts call. */
static void list_lines(Search *self)
{
	guint n = self->stacks->stacks->len;
	g_autofree bool *is_around = g_new0(bool, MAX(n, 1));
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t outer = outer_of(self, i), function = function_of(self, i);
		bool is_inner = outer != LODE_NONE && is_around[outer];
		is_around[i] = is_inner || self->out->is_of[function] || self->is_first[i];
		if (!is_around[i] || is_inner)
			continue;
		self->out->cost += self->costs_of[i];
		if (self->is_first[i])
			add_line(self, i);
	}
	g_array_sort(self->out->lines, compare_lines);
	for (guint i = 0; i < self->out->lines->len; i++)
		sum += g_array_index(self->out->lines, LodeSortComparison, i).cost;
	for (guint i = 0; i < self->out->lines->len; i++)
		g_array_index(self->out->lines, LodeSortComparison, i).cost *= self->out->cost /
		                                                               sum;
}

void lode_sort_comparisons_init(
	LodeSortComparisons *self, const LodeFunctionCosts *costs, const LodeOwnLines *own)
{
	guint n = costs->functions->len;

	*self = (LodeSortComparisons){
		g_array_new(FALSE, FALSE, sizeof(LodeSortComparison)), g_new0(bool, MAX(n, 1)), 0};
	if (costs->stacks == NULL)
		return;
	const LodeStacks *stacks = lode_stacks_of(costs->profile);
	g_autofree Function *functions = g_new0(Function, MAX(n, 1));
	g_autofree double *costs_of = g_new0(double, MAX(stacks->stacks->len, 1));
	g_autofree double *samples_of = g_new0(double, MAX(stacks->stacks->len, 1));
	g_autofree bool *is_first = g_new0(bool, MAX(stacks->stacks->len, 1));
	g_autofree bool *is_within = g_new0(bool, MAX(stacks->stacks->len, 1));
	Search search = {
		self, costs, own, stacks, functions, costs_of, samples_of, is_first, is_within};

	for (uint32_t i = 0; i < stacks->stacks->len; i++)
		functions[function_of(&search, i)].is_own |= is_own_frame(&search, i);
	for (uint32_t i = 0; i < n; i++)
		functions[i].is_sort = is_sort(lode_function_cost_at(costs, i)->name);
	sum_stacks(&search);
	mark_first(&search);
	for (unsigned depth = 0; depth < MOST_DEPTH; depth++) {
		add_callers(&search);
		if (!find_more(&search))
			break;
	}
	list_lines(&search);
}

void lode_sort_comparisons_clear(LodeSortComparisons *self)
{
	g_array_unref(self->lines);
	g_free(self->is_of);
}
