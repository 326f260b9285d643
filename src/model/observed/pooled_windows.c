/* SPDX-License-Identifier: MIT */
#include "model/observed/pooled_windows.h"

#include "base/arrays/partition_point.h"
#include "model/observed/windows.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

typedef struct {
	double hits, cases;
} Ratio;

/* Sums over clusters, and of the cluster that is not yet complete. */
typedef struct {
	Ratio open;
	double hits_hits, hits_cases, cases_cases;
	uint32_t n;
} Clusters;

typedef struct {
	Ratio all;
	Clusters functions, instructions;
} Pool;

static void add(Clusters *self, Ratio ratio)
{
	self->open.hits += ratio.hits;
	self->open.cases += ratio.cases;
}

static void close_cluster(Clusters *self)
{
	Ratio open = self->open;

	self->hits_hits += open.hits * open.hits;
	self->hits_cases += open.hits * open.cases;
	self->cases_cases += open.cases * open.cases;
	self->n += open.cases > 0;
	self->open = (Ratio){0};
}

/* The variance of a ratio of sums. */
static double variance(const Clusters *self, Ratio all)
{
	double share = all.hits / all.cases;
	double squares = self->hits_hits - 2 * share * self->hits_cases +
	                 share * share * self->cases_cases;

	if (self->n < 2)
		return 0;
	return squares / (all.cases * all.cases) * self->n / (self->n - 1);
}

static LodePooledShare finish(const Pool *pool)
{
	LodePooledShare share = {
		.hits = pool->all.hits,
		.cases = pool->all.cases,
		.share = (double)NAN,
		.error = (double)NAN,
		.instructions = pool->instructions.n,
		.functions = pool->functions.n,
	};
	const Clusters *clusters = pool->functions.n > 1 ? &pool->functions : &pool->instructions;

	if (share.cases <= 0)
		return share;
	/* the error of no hits in ten cases is not 0 */
	double likely = (share.hits + 0.5) / (share.cases + 1);
	share.share = share.hits / share.cases;
	share.error = sqrt(MAX(variance(clusters, pool->all), likely * (1 - likely) / share.cases));
	return share;
}

static Ratio ratio_of(double hits, double cases)
{
	return (Ratio){MIN(hits, cases), cases};
}

/* Adds the edges that were observed from an instruction. */
static void read_ways(const LodeWindows *windows, const LodeObservedInstruction *facts,
	Ratio *out_unjudged, Ratio *out_differing)
{
	const GArray *edges = windows->edges;
	guint first = LODE_PARTITION_POINT(
		edges->len, i, LODE_AT(edges, LodeObservedEdge, i).source < facts->instruction);
	double steps = 0, equal = 0;
	guint end = first;

	for (; end < edges->len &&
		LODE_AT(edges, LodeObservedEdge, end).source == facts->instruction;
		end++) {
		double way = LODE_AT(edges, LodeObservedEdge, end).steps;
		steps += way;
		equal += way * (way - 1);
	}
	double judged = MIN(facts->outcomes, steps);
	*out_unjudged = (Ratio){end - first > 1 ? steps - judged : 0, steps};
	*out_differing = steps < 2 ? (Ratio){0} : ratio_of(steps - equal / (steps - 1), steps);
}

static void read_facts(const LodeWindows *windows, const LodeObservedInstruction *facts,
	Ratio out_ratios[LODE_N_POOLED])
{
	const LodeObservedInstruction *is = facts;
	uint32_t compared = lode_window_compared_accesses(facts);
	uint32_t judged = lode_window_judged_accesses(facts);
	const Ratio ratios[LODE_N_POOLED] = {
		[LODE_POOLED_UNFORETOLD] = ratio_of(is->unforetold, is->outcomes),
		[LODE_POOLED_DENORMAL] = ratio_of(is->denormals, is->steps),
		[LODE_POOLED_UNDERFLOW] = ratio_of(is->underflows, is->steps),
		[LODE_POOLED_REPEATED] = ratio_of(is->repeated, compared),
		[LODE_POOLED_STRIDED] = ratio_of(is->strided, compared),
		[LODE_POOLED_PAGE_CHANGE] = ratio_of(is->page_changes, compared),
		[LODE_POOLED_SPLIT] = ratio_of(is->split, is->accesses),
		[LODE_POOLED_SPLIT_PAGE] = ratio_of(is->split_pages, is->accesses),
		[LODE_POOLED_STORED] = ratio_of(is->loads.stored, judged),
		[LODE_POOLED_PART_STORED] = ratio_of(is->loads.part_stored, judged),
		[LODE_POOLED_CONFLICTING] = ratio_of(is->loads.conflicting, judged),
		[LODE_POOLED_LINE_USED] = ratio_of(is->line_used_bytes / 64.0, is->line_visits),
		[LODE_POOLED_SAME_ARGUMENTS] = ratio_of(
			is->calls.same_arguments, is->calls.compared),
		[LODE_POOLED_SAME_RESULT] = ratio_of(
			is->calls.same_results, is->calls.compared_results),
	};

	memcpy(out_ratios, ratios, sizeof(ratios));
	read_ways(windows, facts, &out_ratios[LODE_POOLED_UNJUDGED],
		&out_ratios[LODE_POOLED_DIFFERING]);
}

static void close_functions(Pool pools[LODE_N_POOLED])
{
	for (int fact = 0; fact < LODE_N_POOLED; fact++)
		close_cluster(&pools[fact].functions);
}

LodePooledWindows lode_pooled_windows(
	const LodeProfile *profile, const uint32_t *instructions, size_t n)
{
	LodePooledWindows pooled = {0};
	Pool pools[LODE_N_POOLED] = {0};
	uint32_t function = LODE_NONE;

	for (size_t i = 0; i < n && profile->windows != NULL; i++) {
		const LodeObservedInstruction *facts = lode_windows_find(
			profile->windows, instructions[i]);
		Ratio ratios[LODE_N_POOLED];
		if (facts == NULL || facts->steps + facts->hits == 0)
			continue;
		uint32_t own = lode_profile_instruction(profile, instructions[i])->function;
		if (own != function)
			close_functions(pools);
		pooled.functions += own != function;
		pooled.instructions++;
		pooled.steps += facts->steps + facts->hits;
		function = own;
		read_facts(profile->windows, facts, ratios);
		for (int fact = 0; fact < LODE_N_POOLED; fact++) {
			Pool *pool = &pools[fact];
			pool->all.hits += ratios[fact].hits;
			pool->all.cases += ratios[fact].cases;
			add(&pool->functions, ratios[fact]);
			add(&pool->instructions, ratios[fact]);
			close_cluster(&pool->instructions);
		}
	}
	close_functions(pools);
	for (int fact = 0; fact < LODE_N_POOLED; fact++)
		pooled.shares[fact] = finish(&pools[fact]);
	return pooled;
}
