/* SPDX-License-Identifier: MIT */
#include "ingest/join/attributes/address_facts.h"

#include "base/arrays/sort_order.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

enum {
	/* In windows: */
	LEAST_ACCESSES = LODE_OBSERVED_STEPS,
	LEAST_STRIDED = 8, /* of which four have the same difference */
	LEAST_WITHOUT_STRIDE = 16,
	LEAST_VISITS = 16, /* of lines */
	LEAST_DRAWS = 8,   /* whose line is known to be used so far, or which lie so far apart */
	LEAST_MOVES = 30,  /* from one sample of time to the next */
	LINE = 64,
	PAGE = 4096,
	MOST_SETS = 64, /* of a first level, whose index lies within a page */
};

/* Shares of accesses, moves, or bytes. */
#define MOST 0.5
#define FEW 0.25
#define THIRD (1.0 / 3)
#define DIRECTED 0.75
#define OFTEN 0.125
#define ROOMY 0.75

/* The standard error of the number of pages in windows. */
#define PAGES_ERROR 0.13

LODE_ORDER(compare_pages, LodeAddressDraw, LODE_ASCENDING(page))
LODE_ORDER(compare_times, LodeAddressDraw, LODE_ASCENDING(thread), LODE_ASCENDING(time_ns))

double lode_address_facts_least_pages(uint64_t n, uint64_t n_pairs)
{
	double limit = sqrt((double)n_pairs + 1) + 1;

	return n < 2 ? 0 : (double)n * (double)(n - 1) / 2 / (limit * limit);
}

uint64_t lode_address_facts_count_pairs(LodeAddressDraw *draws, uint32_t n)
{
	uint64_t n_pairs = 0;

	if (n > 1)
		qsort(draws, n, sizeof(*draws), compare_pages);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && draws[end].page == draws[i].page;)
			end++;
		n_pairs += (uint64_t)(end - i) * (end - i - 1) / 2;
	}
	return n_pairs;
}

LodeAddressMoves lode_address_facts_moves(LodeAddressDraw *draws, uint32_t n)
{
	const LodeAddressDraw *before = NULL;
	LodeAddressMoves moves = {0};

	if (n > 1)
		qsort(draws, n, sizeof(*draws), compare_times);
	for (uint32_t i = 0; i < n; i++) {
		const LodeAddressDraw *draw = &draws[i];
		if (!draw->is_of_time)
			continue;
		if (before != NULL && before->thread == draw->thread) {
			moves.n_up += draw->address > before->address;
			moves.n_down += draw->address < before->address;
		}
		before = draw;
	}
	return moves;
}

/* --- as attributes --- */

typedef struct {
	char (*texts)[LODE_ADDRESS_FACT_SIZE];
	unsigned n;
} Texts;

static void add(Texts *self, const char *text)
{
	g_strlcpy(self->texts[self->n++], text, LODE_ADDRESS_FACT_SIZE);
}

/* By the code, which knows a short walk from a random place; else by windows. 0: it has none, or it
 * is not known. */
static int64_t stride_of(const LodeAddressEvidence *evidence)
{
	const LodeObservedInstruction *windows = evidence->windows;

	if (evidence->walk.is_known && evidence->walk.stride != 0)
		return evidence->walk.stride;
	return windows != NULL && lode_window_compared_accesses(windows) >= LEAST_STRIDED &&
	                       windows->strided >= MOST * lode_window_compared_accesses(windows)
	               ? windows->stride
	               : 0;
}

static void add_stride(Texts *self, const LodeAddressEvidence *evidence)
{
	const LodeObservedInstruction *windows = evidence->windows;
	uint32_t compared = windows != NULL ? lode_window_compared_accesses(windows) : 0;
	int64_t stride = stride_of(evidence);
	char text[LODE_ADDRESS_FACT_SIZE];

	g_snprintf(text, sizeof(text), "stride:%" G_GINT64_FORMAT, stride);
	if (stride != 0)
		add(self, text);
	else if (evidence->walk.is_equal)
		add(self, "stride:equal");
	else if (compared < LEAST_STRIDED)
		return;
	else if (windows->repeated >= MOST * compared)
		add(self, "stride:0");
	else if (compared >= LEAST_WITHOUT_STRIDE && windows->strided < FEW * compared &&
		 windows->repeated < FEW * compared)
		add(self, "stride:none");
}

/* That all addresses differ by multiples of it: a lower bound of the steps. 0: all are equal, or
 * there are too few. */
static uint64_t common_step(const LodeAddressDraw *draws, uint32_t n)
{
	uint64_t step = 0;

	for (uint32_t i = 1; n >= LEAST_DRAWS && i < n; i++) {
		uint64_t a = draws[i].address - draws[0].address;
		for (a = MIN(a, -a); a != 0;) {
			uint64_t rest = step % a;
			step = a;
			a = rest;
		}
	}
	return step;
}

/* Whether the accesses of an instruction to lines of which little is used at a time lie so close
 * to each other that all of an array is used, or so far apart that the rest of it is not. */
static void add_density(Texts *self, const LodeAddressEvidence *evidence, double bytes)
{
	uint64_t step = common_step(evidence->draws, evidence->n);

	for (uint32_t i = 0; i < evidence->n; i++)
		bytes = MAX(bytes, evidence->draws[i].size);
	if (step > 0)
		add(self, bytes >= (1 - FEW) * (double)MIN(step, LINE) ? "lines:dense"
								       : "lines:apart");
}

/* The instruction's, by windows or, if these are few, of all that access the object; or else by the
 * members that are used, or by what the code tells. */
static void add_lines(Texts *self, const LodeAddressEvidence *evidence)
{
	const LodeObservedInstruction *windows = evidence->windows;
	uint64_t visits = windows != NULL ? windows->line_visits : 0;
	uint64_t bytes = windows != NULL ? windows->line_used_bytes : 0;
	uint64_t by_members = 0, bytes_by_members = 0;

	if (visits < LEAST_VISITS && evidence->pool != NULL) {
		visits = evidence->pool->line_visits;
		bytes = evidence->pool->line_used_bytes;
	}
	for (uint32_t i = 0; visits < LEAST_VISITS && i < evidence->n; i++)
		if (evidence->draws[i].used_bytes >= 0) {
			by_members++;
			bytes_by_members += (uint64_t)evidence->draws[i].used_bytes;
		}
	if (by_members >= LEAST_DRAWS) {
		/* an upper bound, which cannot say that they are used */
		if ((double)bytes_by_members <= MOST * LINE * (double)by_members)
			add(self, "lines:partly-used");
		return;
	}
	if (visits < LEAST_VISITS) {
		const LodeLoopStride *walk = &evidence->walk;
		if (walk->used > 0 && walk->used <= THIRD) {
			add(self, "lines:partly-used");
			add_density(
				self, evidence, walk->used * MIN(fabs((double)walk->stride), LINE));
		}
		return;
	}
	double used = (double)bytes / (double)visits / LINE;
	if (used <= MOST) {
		add(self, "lines:partly-used");
		add_density(self, evidence, used * LINE);
	} else if (used >= 1 - FEW)
		add(self, "lines:used");
}

bool lode_address_facts_are_crowded(int64_t stride, double rounds, uint32_t n_sets, uint32_t n_ways)
{
	uint64_t step = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
	double most = ROOMY * n_sets * n_ways;
	uint32_t counts[MOST_SETS] = {0}, n = 0, n_crowded = 0;

	if (n_sets == 0 || n_sets > MOST_SETS || step < LINE || !(rounds >= 1) || rounds > most)
		return false;
	for (; n < rounds; n++)
		counts[n * step / LINE % n_sets]++;
	for (uint32_t i = 0; i < n_sets; i++)
		n_crowded += counts[i] > n_ways ? counts[i] : 0;
	return n_crowded > MOST * n;
}

/* Whether all that is accessed of an object, by any instruction, lies within half of the first
 * level: eight accesses at random places in twice as many bytes would lie farther apart in 96 %. */
static bool fits_first_level(const LodeAddressEvidence *evidence)
{
	const LodeAddressPool *pool = evidence->pool;

	return pool != NULL && pool->n_draws >= LEAST_DRAWS &&
	       pool->most - pool->least <= (uint64_t)evidence->n_sets * evidence->n_ways * LINE / 2;
}

/* How many equally likely pages must be in use so that `n` accesses go to `distinct` of them. */
static double pages_of_accesses(double n, double distinct)
{
	/* n ÷ pages: that at which (1 − e^−x) ÷ x is the share of accesses to a new page */
	double low = 0, high = 64;

	if (!(n > 0) || distinct >= n)
		return 0; /* no bound */
	for (int i = 0; i < 50; i++) {
		double x = (low + high) / 2;
		if (-expm1(-x) / x > distinct / n)
			low = x;
		else
			high = x;
	}
	return n / high;
}

/* Whether so many draws of `pages` equally likely pages may well coincide so often. */
static bool may_be_of(double pages, uint64_t n, uint64_t n_pairs)
{
	double expected = (double)n * (double)(n - 1) / 2 / pages;

	return n > 0 && (double)n_pairs <= expected + 2 * sqrt(expected) + 1;
}

static bool is_beyond(const LodeAddressEvidence *evidence, bool has_windows)
{
	const LodeAddressPool *pool = evidence->pool;
	uint64_t n = evidence->n;
	uint64_t n_pairs = lode_address_facts_count_pairs(evidence->draws, evidence->n);
	bool is_timed = false;

	for (uint32_t i = 0; i < evidence->n; i++)
		is_timed |= evidence->draws[i].is_of_time;
	/* of 4 KiB, where draws know of larger ones */
	double seen = has_windows && !is_timed
	                      ? pages_of_accesses(evidence->windows->accesses,
					(1 - 2 * PAGES_ERROR) * evidence->windows->pages)
	                      : 0;
	return seen > evidence->reach ||
	       lode_address_facts_least_pages(n, n_pairs) > evidence->reach ||
	       (pool != NULL &&
		       lode_address_facts_least_pages(pool->n_draws, pool->n_pairs) >
			       evidence->reach &&
		       may_be_of(evidence->reach, n, n_pairs));
}

static bool is_known(LodeAddressMoves moves)
{
	return moves.n_up + moves.n_down >= LEAST_MOVES;
}

static bool is_directed(LodeAddressMoves moves)
{
	return MAX(moves.n_up, moves.n_down) > DIRECTED * (moves.n_up + moves.n_down);
}

/* Whether at least a quarter of the accesses are to a different page than the one before. Without
 * windows: whether samples lie before the one before them about as often as after it. A walk from
 * one end to the other needs few translations at a time. */
static bool is_jumping(const LodeAddressEvidence *evidence, bool has_windows)
{
	const LodeAddressPool *pool = evidence->pool;
	LodeAddressMoves moves;

	if (has_windows)
		return evidence->windows->page_changes >=
		       FEW * lode_window_compared_accesses(evidence->windows);
	if (pool != NULL && pool->compared >= LEAST_ACCESSES)
		return (double)pool->page_changes >= FEW * (double)pool->compared;
	if (!evidence->is_step_known)
		return false;
	if (evidence->is_linear)
		return (double)common_step(evidence->draws, evidence->n) >= FEW * PAGE;
	moves = lode_address_facts_moves(evidence->draws, evidence->n);
	if (!is_known(moves) && pool != NULL)
		moves = pool->moves;
	return is_known(moves) && !is_directed(moves);
}

/* In windows; where the instruction has few accesses, of all that access the object. */
static bool has_conflicts(const LodeAddressEvidence *evidence)
{
	const LodeObservedInstruction *windows = evidence->windows;
	const LodeAddressPool *pool = evidence->pool;
	uint32_t judged = windows != NULL ? lode_window_judged_accesses(windows) : 0;

	if (judged >= LEAST_ACCESSES)
		return windows->loads.conflicting >= OFTEN * judged;
	return pool != NULL && pool->judged >= LEAST_ACCESSES &&
	       (double)pool->conflicting >= OFTEN * (double)pool->judged;
}

/* By the code, which tells also where walks come back that windows are too short for. Executions
 * that tell the rounds are estimates: a walk is not longer than its accesses lie apart, and may be
 * as long. */
static bool is_crowded(const LodeAddressEvidence *evidence)
{
	const LodeLoopStride *walk = &evidence->walk;
	int64_t stride = stride_of(evidence);
	double distance = fabs((double)stride), rounds = walk->rounds;
	uint64_t least = UINT64_MAX, most = 0, least_rest = UINT64_MAX, most_rest = 0;
	uint32_t n_of_time = 0; /* those of one window follow each other */

	if (stride == 0)
		return false;
	for (uint32_t i = 0; i < evidence->n; i++) {
		uint64_t address = evidence->draws[i].address;
		uint64_t rest = address % (stride < 0 ? -(uint64_t)stride : (uint64_t)stride);
		least = MIN(least, address);
		most = MAX(most, address);
		least_rest = MIN(least_rest, rest);
		most_rest = MAX(most_rest, rest);
		n_of_time += evidence->draws[i].is_of_time;
	}
	double seen = (double)(most - least) / distance + 1;
	bool is_seen = n_of_time >= LEAST_DRAWS;
	/* each call may walk over the same lines */
	bool comes_back = walk->comes_back ||
	                  (is_seen && most_rest - least_rest < LINE && seen <= 2 * rounds);
	if (!comes_back)
		return false;
	if (!walk->is_exact) {
		if (!is_seen || seen > ROOMY * evidence->n_sets * evidence->n_ways)
			return false;
		rounds = MIN(rounds, seen);
	}
	return lode_address_facts_are_crowded(stride, rounds, evidence->n_sets, evidence->n_ways);
}

unsigned lode_address_facts_make(const LodeAddressEvidence *evidence,
	char out_texts[LODE_ADDRESS_FACTS_MOST][LODE_ADDRESS_FACT_SIZE])
{
	const LodeObservedInstruction *windows = evidence->windows;
	Texts texts = {.texts = out_texts};
	bool has_windows = windows != NULL && windows->accesses >= LEAST_ACCESSES;

	add_stride(&texts, evidence);
	add_lines(&texts, evidence);
	if (has_conflicts(evidence))
		add(&texts, "conflict:first-level");
	if (is_crowded(evidence))
		add(&texts, "conflict:pitch");
	if ((evidence->n > 0 || has_windows) && is_beyond(evidence, has_windows) &&
		is_jumping(evidence, has_windows))
		add(&texts, "spread:tlb");
	if (evidence->n > 0 && fits_first_level(evidence))
		add(&texts, "spread:first-level");
	return texts.n;
}
