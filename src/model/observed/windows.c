/* SPDX-License-Identifier: MIT */
#include "model/observed/windows.h"

#include "base/arrays/partition_point.h"
#include "base/text/words.h"
#include "model/index.h"
#include "model/profile.h"

#include <math.h>

LodeWindows *lode_windows_of(const LodeProfile *profile)
{
	return profile->windows;
}

LodeWindows *lode_windows_new(void)
{
	LodeWindows *self = g_new0(LodeWindows, 1);

	self->edges = g_array_new(FALSE, FALSE, sizeof(LodeObservedEdge));
	self->instructions = g_array_new(FALSE, FALSE, sizeof(LodeObservedInstruction));
	self->processes = g_array_new(FALSE, FALSE, sizeof(LodeSteppedProcess));
	return self;
}

void lode_windows_free(LodeWindows *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->edges);
	g_array_unref(self->instructions);
	g_array_unref(self->processes);
	g_free(self);
}

static const char *const fact_names[] = {
	[LODE_WINDOW_FACT_UNDERFLOWS] = "underflows",
	[LODE_WINDOW_FACT_SPLIT_PAGES] = "split_pages",
	[LODE_WINDOW_FACT_COMPARED_CALLS] = "compared_calls",
	[LODE_WINDOW_FACT_SAME_ARGUMENTS] = "same_arguments",
	[LODE_WINDOW_FACT_COMPARED_RESULTS] = "compared_results",
	[LODE_WINDOW_FACT_SAME_RESULTS] = "same_results",
	[LODE_WINDOW_FACT_PAGE_CHANGES] = "page_changes",
	[LODE_WINDOW_FACT_LINE_VISITS] = "line_visits",
	[LODE_WINDOW_FACT_LINE_USED_BYTES] = "line_used_bytes",
	[LODE_WINDOW_FACT_LOOP_ROUNDS] = "loop_rounds",
	[LODE_WINDOW_FACT_LOOP_EXITS] = "loop_exits",
	[LODE_WINDOW_FACT_STRING_RUNS] = "string_runs",
	[LODE_WINDOW_FACT_STRING_ROUNDS] = "string_rounds",
	[LODE_WINDOW_FACT_HITS] = "hits",
	[LODE_WINDOW_FACT_FIRST_ACCESSES] = "first_accesses",
	[LODE_WINDOW_FACT_EARLY_ACCESSES] = "early_accesses",
};

uint32_t *lode_window_fact(LodeObservedInstruction *facts, LodeWindowFact fact)
{
	uint32_t *const fields[LODE_N_WINDOW_FACTS] = {&facts->underflows, &facts->split_pages,
		&facts->calls.compared, &facts->calls.same_arguments,
		&facts->calls.compared_results, &facts->calls.same_results, &facts->page_changes,
		&facts->line_visits, &facts->line_used_bytes, &facts->loop_rounds,
		&facts->loop_exits, &facts->string_runs, &facts->string_rounds, &facts->hits,
		&facts->first_accesses, &facts->early_accesses};

	return fields[fact];
}

const char *lode_window_fact_to_text(LodeWindowFact fact)
{
	return (unsigned)fact < LODE_N_WINDOW_FACTS ? fact_names[fact] : NULL;
}

int lode_window_fact_from_text(const char *text)
{
	return lode_word_find(fact_names, LODE_N_WINDOW_FACTS, text);
}

uint64_t lode_windows_hits(const LodeWindows *self)
{
	uint64_t hits = 0;

	for (guint i = 0; i < self->instructions->len; i++)
		hits += LODE_AT(self->instructions, LodeObservedInstruction, i).hits;
	return hits;
}

/* The first edge of a source, or where it would be. */
static uint32_t first_from(const LodeWindows *self, uint32_t source)
{
	const LodeObservedEdge *edges = (const LodeObservedEdge *)self->edges->data;

	return LODE_PARTITION_POINT(self->edges->len, i, edges[i].source < source);
}

const LodeObservedEdge *lode_windows_find_edge(
	const LodeWindows *self, uint32_t source, uint32_t target)
{
	const LodeObservedEdge *edges = (const LodeObservedEdge *)self->edges->data;
	uint32_t at = LODE_PARTITION_POINT(self->edges->len, i,
		edges[i].source < source ||
			(edges[i].source == source && edges[i].target < target));

	return at < self->edges->len && edges[at].source == source && edges[at].target == target
	               ? &edges[at]
	               : NULL;
}

uint64_t lode_windows_outcomes(const LodeWindows *self, uint32_t source)
{
	const LodeObservedEdge *edges = (const LodeObservedEdge *)self->edges->data;
	uint64_t steps = 0;

	for (uint32_t i = first_from(self, source);
		i < self->edges->len && edges[i].source == source; i++)
		steps += edges[i].steps;
	return steps;
}

bool lode_windows_stays(const LodeWindows *self, uint32_t source)
{
	enum {
		LEAST_WINDOWS = 3,
		LEAST_OUTCOMES = 3,
		LEAST_AGAIN = 10,
		MOST_WINDOWS_PART = 4,
		MOST_OUTCOMES_PART = 25
	};
	const GArray *edges = self->edges;
	const LodeObservedEdge *before = source > 0
	                                         ? lode_windows_find_edge(self, source - 1, source)
	                                         : NULL;
	/* Windows that came to it; each way in a window beyond the first is a change at least. */
	uint64_t windows = before != NULL ? before->windows : 0, ways = 0;
	uint64_t outcomes = lode_windows_outcomes(self, source);

	for (guint i = LODE_PARTITION_POINT(
		     edges->len, k, LODE_AT(edges, LodeObservedEdge, k).source < source);
		i < edges->len && LODE_AT(edges, LodeObservedEdge, i).source == source; i++)
		ways += LODE_AT(edges, LodeObservedEdge, i).windows;
	uint64_t changes = ways > windows ? ways - windows : 0;
	return windows >= LEAST_WINDOWS && outcomes >= LEAST_OUTCOMES * windows &&
	       outcomes - windows >= LEAST_AGAIN && changes * MOST_WINDOWS_PART <= windows &&
	       changes * MOST_OUTCOMES_PART <= outcomes;
}

const LodeObservedInstruction *lode_windows_find(const LodeWindows *self, uint32_t instruction)
{
	const LodeObservedInstruction *all =
		(const LodeObservedInstruction *)self->instructions->data;
	uint32_t at = LODE_PARTITION_POINT(
		self->instructions->len, i, all[i].instruction < instruction);

	return at < self->instructions->len && all[at].instruction == instruction ? &all[at] : NULL;
}

LodeForetold lode_window_foretold(const LodeObservedInstruction *facts)
{
	if (facts == NULL || facts->outcomes < LODE_JUDGED_OUTCOMES)
		return LODE_FORETOLD_UNKNOWN;
	if ((uint64_t)facts->unforetold * 200 <= facts->outcomes)
		return LODE_FORETOLD_ALL;
	return (uint64_t)facts->unforetold * 20 >= facts->outcomes ? LODE_FORETOLD_HARD
	                                                           : LODE_FORETOLD_MOST;
}

LodeObservedRounds lode_window_rounds(const LodeObservedInstruction *facts)
{
	enum { RULE_OF_THREE = 3 };
	LodeObservedRounds rounds = {(double)NAN, (double)NAN, (double)NAN};

	if (facts == NULL || facts->loop_rounds < LODE_OBSERVED_STEPS)
		return rounds;
	double n = facts->loop_rounds, exits = MIN(facts->loop_exits, facts->loop_rounds);
	if (facts->loop_exits == 0) {
		rounds.least = n / RULE_OF_THREE;
		return rounds;
	}
	rounds.mean = n / exits;
	/* The error of 1 ÷ a share: exits of n, which are binomial. */
	rounds.error = rounds.mean * sqrt((1 - exits / n) / exits);
	return rounds;
}

const char *lode_window_obstacle_text(uint32_t obstacle)
{
	/* In the order of LodeWindowObstacle. */
	static const char *const texts[] = {
		NULL,
		"handles or ignores SIGTRAP itself",
		"blocks SIGTRAP",
		"limits its system calls (seccomp, user dispatch) or its clock",
		"a debugger is attached",
		"its run-time uses SIGTRAP (Java, Go, .NET)",
		"no room for the log of windows",
		"the kernel gave neither event nor timer",
		"static, set-user-ID, of 32 bits or built with a sanitizer",
		"its code has system calls that no library sees",
		"it had several threads too early",
	};

	G_STATIC_ASSERT(G_N_ELEMENTS(texts) == LODE_N_OBSTACLE_TEXTS);
	return obstacle < G_N_ELEMENTS(texts) ? texts[obstacle] : "for an unknown reason";
}

/* Per 1,000 steps; NAN: there are none. */
static double count_unjudged(const LodeWindows *self)
{
	uint64_t unjudged = 0, all = 0;

	for (guint i = 0, end; i < self->edges->len; i = end) {
		uint32_t source = LODE_AT(self->edges, LodeObservedEdge, i).source;
		uint64_t steps = 0;
		for (end = i; end < self->edges->len &&
			      LODE_AT(self->edges, LodeObservedEdge, end).source == source;
			end++)
			steps += LODE_AT(self->edges, LodeObservedEdge, end).steps;
		const LodeObservedInstruction *facts = lode_windows_find(self, source);
		uint64_t judged = facts != NULL ? facts->outcomes : 0;
		all += steps;
		unjudged += end - i > 1 ? steps - MIN(steps, judged) : 0;
	}
	return all > 0 ? 1000 * (double)unjudged / (double)all : (double)NAN;
}

LodeWindowSums lode_windows_sums(const LodeWindows *self)
{
	LodeWindowSums sums = {.unforetold_per_thousand = (double)NAN,
		.unjudged_per_thousand = count_unjudged(self)};
	double steps = 0, unforetold = 0;

	for (guint i = 0; i < self->instructions->len; i++) {
		const LodeObservedInstruction *facts = &LODE_AT(
			self->instructions, LodeObservedInstruction, i);
		steps += facts->steps;
		sums.denormals += facts->denormals;
		sums.underflows += facts->underflows;
		if (facts->outcomes < LODE_OBSERVED_STEPS)
			continue;
		sums.outcomes += facts->outcomes;
		unforetold += (double)facts->steps * facts->unforetold / facts->outcomes;
	}
	if (sums.outcomes >= LODE_JUDGED_OUTCOMES && steps > 0)
		sums.unforetold_per_thousand = 1000 * unforetold / steps;
	return sums;
}
