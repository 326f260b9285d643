/* SPDX-License-Identifier: MIT */
#include "model/causes.h"

#include "model/profile.h"
#include "model/waits.h"

#include <math.h>
#include <string.h>

/* A weight this many times that of any instruction that executes as often shows that something
 * waited. */
#define MIN_PEAK 8.0

/* The edges and ways that lead to one instruction. */
typedef struct {
	double whole;        /* executions, or what flows in, whichever is more; 0: nothing known */
	double fall_through; /* share of the fall-through edges' executions that counts */
	double stays;        /* share of the weight that no edge brought */
} Inflow;

struct LodeCauses {
	const LodeProfile *profile;
	const uint8_t *marks;
	Inflow *inflows; /* of each instruction */
	const LodeCauseWay *ways;
	size_t n_ways;
	double ways_weight;
	bool *has_ways; /* [instructions]; NULL: none has */
};

typedef struct {
	double others, fall_through, returns; /* executions, by kind of edge; others has returns */
} Sum;

/* An instruction's edge to the next one in the array; 0: there is none. */
static double next_count(const LodeProfile *profile, uint32_t instruction)
{
	return fmax(lode_profile_instruction(profile, instruction)->next_count, 0);
}

static Sum *sum_edges(const LodeProfile *profile)
{
	uint32_t n = profile->code.instructions->len;
	Sum *sums = g_new0(Sum, MAX(n, 1));

	for (uint32_t i = 0; i + 1 < n; i++)
		sums[i + 1].fall_through += next_count(profile, i);
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		double count = fmax(edge->count, 0);
		if (edge->kind == LODE_EDGE_FALL_THROUGH)
			sums[edge->target].fall_through += count;
		else
			sums[edge->target].others += count;
		if (edge->kind == LODE_EDGE_RETURN)
			sums[edge->target].returns += count;
	}
	return sums;
}

/* A call falls through when its callee returns: where the returns are known they tell more. */
static Inflow inflow_of(const Sum *sum, double executions)
{
	Inflow inflow = {.stays = 1};
	double called = fmax(sum->fall_through - sum->returns, 0);

	if (sum->fall_through > 0)
		inflow.fall_through = called / sum->fall_through;
	double flow = sum->others + called;
	/* Infinite: sums of hostile counts, of which no share can be taken. */
	if (flow <= 0 || !isfinite(flow) || !isfinite(executions))
		return inflow;
	inflow.whole = fmax(flow, executions);
	inflow.stays = (inflow.whole - flow) / inflow.whole;
	return inflow;
}

LodeCauses *lode_causes_new(const LodeProfile *profile, const uint8_t *marks)
{
	LodeCauses *self = g_new0(LodeCauses, 1);
	uint32_t n = profile->code.instructions->len;
	g_autofree Sum *sums = sum_edges(profile);

	self->profile = profile;
	self->marks = marks;
	self->inflows = g_new(Inflow, MAX(n, 1));
	for (uint32_t i = 0; i < n; i++)
		self->inflows[i] = inflow_of(&sums[i], lode_profile_instruction(profile, i)->count);
	return self;
}

void lode_causes_free(LodeCauses *self)
{
	if (self == NULL)
		return;
	g_free(self->inflows);
	g_free(self->has_ways);
	g_free(self);
}

static bool has_mark(const LodeCauses *self, uint32_t instruction, LodeCauseMark mark)
{
	return self->marks != NULL && (self->marks[instruction] & mark) != 0;
}

void lode_causes_take_ways(LodeCauses *self, const LodeCauseWay *ways, size_t n, double weight)
{
	self->ways = ways;
	self->n_ways = n;
	self->ways_weight = weight;
	self->has_ways = g_new0(bool, MAX(self->profile->code.instructions->len, 1));
	for (size_t i = 0; i < n; i++)
		self->has_ways[ways[i].target] = true;
}

/* Whether a way stands for this edge, which then is not followed as well. */
static bool is_in_ways(const LodeCauses *self, const LodeEdge *edge)
{
	if (self->has_ways == NULL || !self->has_ways[edge->target] ||
		(edge->kind != LODE_EDGE_FALL_THROUGH && edge->kind != LODE_EDGE_TAKEN &&
			edge->kind != LODE_EDGE_JUMP))
		return false;
	return lode_profile_instruction(self->profile, edge->source)->function ==
	       lode_profile_instruction(self->profile, edge->target)->function;
}

static double edge_share(const LodeCauses *self, const LodeEdge *edge)
{
	const Inflow *inflow = &self->inflows[edge->target];
	double count = edge->kind == LODE_EDGE_FALL_THROUGH ? edge->count * inflow->fall_through
	                                                    : edge->count;

	return count > 0 && inflow->whole > 0 ? count / inflow->whole : 0;
}

static void give(const LodeCauses *self, uint32_t source, double weight, double *out)
{
	if (source > 0 && has_mark(self, source, LODE_CAUSE_ENDS_A_PAIR))
		source--;
	else if (source + 1 < self->profile->code.instructions->len &&
		 has_mark(self, source, LODE_CAUSE_PREPARES))
		source++;
	out[source] += weight;
}

/* Along one edge; what came by a way is gathered at its target until all edges are done. */
static void move(const LodeCauses *self, const LodeEdge *edge, const double *sampled,
	double *by_ways, double *out)
{
	double share = edge_share(self, edge);

	if (share <= 0 || sampled[edge->target] == 0 ||
		has_mark(self, edge->target, LODE_CAUSE_REPEATS))
		return;
	if (is_in_ways(self, edge))
		by_ways[edge->target] += sampled[edge->target] * share;
	else
		give(self, edge->source, sampled[edge->target] * share, out);
}

/* The units of a way's evidence in the event that is charged. */
typedef struct {
	const double *sampled;
	double execution;   /* what one stands for */
	double half_sample; /* that nothing was sampled there does not say that it never waits */
} WayUnits;

static double way_weight(const LodeCauseWay *way, const WayUnits *units)
{
	if (way->other != LODE_NONE)
		return units->sampled[way->other] + units->half_sample;
	return fmax(way->count, 0) * units->execution;
}

/* The wait for a branch's operands is over when it retires, unless one of them is in memory; what
 * is left are mispredictions, and these are sampled at its other way as well. */
static bool is_limited(const LodeCauseWay *way)
{
	return way->other != LODE_NONE && !way->can_wait;
}

/* Can wait, and nothing says for how long. */
static bool is_waiting(const LodeCauseWay *way)
{
	return way->other == LODE_NONE && way->can_wait;
}

/* The greatest weight of a limited way: its own evidence, and that of any instruction that executes
 * as often. */
static double most_of(const LodeCauseWay *way, const WayUnits *units)
{
	return way_weight(way, units) + fmax(way->count, 0) * units->execution;
}

/* Gives limited ways their shares, but no more than is expected of them; returns what remains. */
static double give_limited(const LodeCauses *self, const LodeCauseWay *ways, size_t n,
	double weight, double sum, const WayUnits *units, double *out)
{
	double rest = weight;

	for (size_t i = 0; i < n; i++) {
		if (!is_limited(&ways[i]))
			continue;
		double part = weight * (way_weight(&ways[i], units) / sum);
		part = fmin(part, most_of(&ways[i], units));
		give(self, ways[i].source, part, out);
		rest -= part;
	}
	return fmax(rest, 0);
}

/* The others' shares; where none is known to have executed, those that can wait are equal. */
static void give_others(const LodeCauses *self, const LodeCauseWay *ways, size_t n, double weight,
	const WayUnits *units, double *out)
{
	double sum = 0, n_waiting = 0;

	for (size_t i = 0; i < n; i++) {
		sum += is_limited(&ways[i]) ? 0 : way_weight(&ways[i], units);
		n_waiting += is_waiting(&ways[i]);
	}
	for (size_t i = 0; i < n; i++) {
		double share = sum > 0 ? way_weight(&ways[i], units) / sum
		                       : is_waiting(&ways[i]) / n_waiting;
		if (!is_limited(&ways[i]))
			give(self, ways[i].source, weight * share, out);
	}
}

/* Divides what came to one instruction among its ways. */
static void divide(const LodeCauses *self, const LodeCauseWay *ways, size_t n, double weight,
	const WayUnits *units, double *out)
{
	double sum = 0, executed = 0;
	bool has_waiting = false;

	for (size_t i = 0; i < n; i++) {
		sum += way_weight(&ways[i], units);
		executed += fmax(ways[i].count, 0) * units->execution;
		has_waiting |= is_waiting(&ways[i]);
	}
	/* Hostile counts, of which no share can be taken. */
	if (!(sum > 0) || !isfinite(sum)) {
		out[ways[0].target] += weight;
		return;
	}
	/* No more than usual needs no load that waits. */
	if (has_waiting && weight >= MIN_PEAK * executed) {
		double rest = give_limited(self, ways, n, weight, sum, units, out);
		give_others(self, ways, n, rest, units, out);
		return;
	}
	for (size_t i = 0; i < n; i++)
		give(self, ways[i].source, weight * (way_weight(&ways[i], units) / sum), out);
}

static void divide_all(
	const LodeCauses *self, const double *sampled, const double *by_ways, double *out)
{
	double whole = 0;

	for (uint32_t i = 0; i < self->profile->code.instructions->len; i++)
		whole += sampled[i];
	const WayUnits units = {
		.sampled = sampled,
		.execution = self->ways_weight > 0 ? whole / self->ways_weight : 0,
		.half_sample = self->profile->run.n_samples > 0
	                               ? whole / self->profile->run.n_samples / 2
	                               : 0,
	};
	for (size_t i = 0, n; i < self->n_ways; i += n) {
		uint32_t target = self->ways[i].target;
		for (n = 1; i + n < self->n_ways && self->ways[i + n].target == target;)
			n++;
		if (by_ways[target] > 0)
			divide(self, &self->ways[i], n, by_ways[target], &units, out);
	}
}

double lode_causes_charge(const LodeCauses *self, const double *sampled, double *out_charged)
{
	const LodeProfile *profile = self->profile;
	uint32_t n = profile->code.instructions->len;
	g_autofree double *by_ways = g_new0(double, MAX(n, 1));
	double stayed = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool repeats = has_mark(self, i, LODE_CAUSE_REPEATS);
		out_charged[i] = sampled[i] * (repeats ? 1 : self->inflows[i].stays);
		stayed += repeats ? 0 : out_charged[i];
	}
	for (uint32_t i = 0; i + 1 < n; i++) {
		const LodeEdge edge = {i, i + 1, LODE_EDGE_FALL_THROUGH, next_count(profile, i)};
		move(self, &edge, sampled, by_ways, out_charged);
	}
	for (guint i = 0; i < profile->code.edges->len; i++)
		move(self, &LODE_AT(profile->code.edges, LodeEdge, i), sampled, by_ways,
			out_charged);
	divide_all(self, sampled, by_ways, out_charged);
	return stayed;
}

uint32_t lode_profile_event_as_sampled(const LodeProfile *profile, uint32_t event)
{
	const char *name = event < profile->code.events->len
	                           ? lode_profile_event(profile, event)->name
	                           : "";

	if (!g_str_has_suffix(name, LODE_CAUSE_SUFFIX))
		return LODE_NONE;
	g_autofree char *stem = g_strndup(name, strlen(name) - strlen(LODE_CAUSE_SUFFIX));
	return lode_profile_find_event(profile, stem);
}

uint32_t lode_profile_event_as_charged(const LodeProfile *profile, uint32_t event)
{
	if (event >= profile->code.events->len)
		return LODE_NONE;
	g_autofree char *name = g_strconcat(
		lode_profile_event(profile, event)->name, LODE_CAUSE_SUFFIX, NULL);
	return lode_profile_find_event(profile, name);
}

uint32_t lode_profile_find_weight(const LodeProfile *profile, const char *name)
{
	uint32_t event = lode_profile_find_event(profile, name);
	uint32_t charged = LODE_NONE;

	if (event != LODE_NONE &&
		(strcmp(name, LODE_LATENCY_EVENT) == 0 || strcmp(name, LODE_CLOCK_EVENT) == 0))
		charged = lode_profile_event_as_charged(profile, event);
	return charged != LODE_NONE ? charged : event;
}

char *lode_event_attribute(const LodeEvent *event)
{
	size_t length = strlen(event->name);

	if (g_str_has_suffix(event->name, LODE_CAUSE_SUFFIX))
		length -= strlen(LODE_CAUSE_SUFFIX);
	return g_strdup_printf("ev:%.*s", (int)length, event->name);
}
