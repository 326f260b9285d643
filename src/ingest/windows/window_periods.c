/* SPDX-License-Identifier: MIT */
#include "ingest/windows/window_visitors.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"

#include <math.h>

enum {
	/* Hits at either end of a burst that say nothing: caches are cold, and the kernel disarms
	 * an event after its last one. */
	COLD = 3,
	DISARMING = 2,
	FEWEST_TURNS = 2,
	MAX_BURSTS = 1 << 20,
	MAX_NEAR = 1 << 20,
	NEAR_NS = 20 * 1000 * 1000, /* samples that are no further away are near */
};

/* What a hit evicts from the caches costs time after it. Of two instructions one may cost more than
 * the other. */
static const double EVICTED_NS = 60, EVICTED_ERROR_NS = 100;

/* Turns that are longer than the median one by this, and by so many of it, had an interrupt. */
static const double INTERRUPT_NS = 6000, MOST_TURNS = 4;

/* How much longer than usual hits may take. */
static const double SLOW_HIT = 1.2;

/* The shortest period that a hit leaves something of to be measured. */
static const double SHORTEST_NS = 300;

typedef struct {
	LodePlace place;
	uint32_t tid, period;
	uint64_t time_ns;
	double ns;
	double hit_ns; /* the median */
	uint32_t n;
} Burst;

typedef struct {
	LodePlace place;
	uint64_t time_ns;
} Hit;

struct LodeWindowPeriods {
	GArray *bursts;  /* Burst */
	GArray *hits;    /* Hit, of the window at hand */
	GArray *gaps[2]; /* double: of hits, and of turns with one */
	uint32_t n_window;
	LodeWindowHead window;
	GArray *periods; /* LodeReadPeriod */
	GArray *near;    /* LodeNearSample */
	LodeIdCache near_numbers;
};

LodeWindowPeriods *lode_window_periods_new(void)
{
	LodeWindowPeriods *self = g_new0(LodeWindowPeriods, 1);

	self->bursts = g_array_new(FALSE, FALSE, sizeof(Burst));
	self->hits = g_array_new(FALSE, FALSE, sizeof(Hit));
	for (unsigned k = 0; k < 2; k++)
		self->gaps[k] = g_array_new(FALSE, FALSE, sizeof(double));
	self->periods = g_array_new(FALSE, FALSE, sizeof(LodeReadPeriod));
	self->near = g_array_new(FALSE, FALSE, sizeof(LodeNearSample));
	lode_id_cache_init(&self->near_numbers);
	return self;
}

void lode_window_periods_free(LodeWindowPeriods *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->bursts);
	g_array_unref(self->hits);
	for (unsigned k = 0; k < 2; k++)
		g_array_unref(self->gaps[k]);
	g_array_unref(self->periods);
	g_array_unref(self->near);
	lode_id_cache_clear(&self->near_numbers);
	g_free(self);
}

/* Of the gaps up to a limit. */
typedef struct {
	double mean;
	uint32_t n;
} Mean;

static Mean mean_of(const GArray *gaps, double limit_ns)
{
	Mean of = {0, 0};

	for (guint i = 0; i < gaps->len; i++)
		if (LODE_AT(gaps, double, i) <= limit_ns) {
			of.mean += LODE_AT(gaps, double, i);
			of.n++;
		}
	of.mean /= MAX(of.n, 1);
	return of;
}

/* The gaps from the first instruction to the second, and from that one to the next first. */
static void find_gaps(LodeWindowPeriods *self, const Hit *first)
{
	const Hit *hits = (const Hit *)(const void *)self->hits->data;

	for (unsigned k = 0; k < 2; k++)
		g_array_set_size(self->gaps[k], 0);
	for (guint i = COLD; i + DISARMING < self->hits->len; i++) {
		double gap_ns = (double)(hits[i].time_ns - hits[i - 1].time_ns);
		bool is_first = hits[i].place.address == first->place.address;
		bool was_first = hits[i - 1].place.address == first->place.address;
		if (is_first != was_first)
			g_array_append_val(self->gaps[is_first], gap_ns);
	}
}

/* The window at hand is over. */
static void end_burst(LodeWindowPeriods *self)
{
	const Hit *hits = (const Hit *)(const void *)self->hits->data, *first = hits;

	for (guint i = 1; i < self->hits->len; i++)
		if (hits[i].place.image == first->place.image &&
			hits[i].place.address < first->place.address)
			first = &hits[i];
	find_gaps(self, first);
	Burst burst = {
		.tid = self->window.tid,
		.time_ns = self->window.begin_ns,
	};
	if (self->hits->len > 0)
		burst.place = first->place;
	g_array_set_size(self->hits, 0);
	if (self->gaps[0]->len < FEWEST_TURNS || self->gaps[1]->len < FEWEST_TURNS ||
		self->bursts->len == MAX_BURSTS)
		return;
	/* Where turns are short, those with an interrupt stand out; else these fall into gaps of
	 * both kinds. */
	double median_ns = lode_median((double *)(void *)self->gaps[1]->data, self->gaps[1]->len);
	burst.hit_ns = lode_median((double *)(void *)self->gaps[0]->data, self->gaps[0]->len);
	double turn_ns = MAX(median_ns - burst.hit_ns, 0);
	double limit_ns = median_ns + MAX(INTERRUPT_NS, MOST_TURNS * turn_ns);
	Mean of_hit = mean_of(self->gaps[0], limit_ns), of_turn = mean_of(self->gaps[1], limit_ns);
	burst.ns = of_turn.mean - of_hit.mean - EVICTED_NS;
	burst.n = of_turn.n;
	if (burst.n >= FEWEST_TURNS && of_hit.n >= FEWEST_TURNS)
		g_array_append_val(self->bursts, burst);
}

static void visit(void *data, const LodeVisitedStep *step)
{
	LodeWindowPeriods *self = data;

	if (step->n_window != self->n_window)
		end_burst(self);
	self->n_window = step->n_window;
	self->window = *step->window;
	if (!step->is_hit || (step->window->flags & LODE_WINDOW_HAS_TIMES) == 0 ||
		step->code == NULL)
		return;
	const Hit hit = {step->code->place, step->step->time_ns};
	g_array_append_val(self->hits, hit);
}

LodeWindowVisitor lode_window_periods_visitor(LodeWindowPeriods *self)
{
	return (LodeWindowVisitor){visit, self};
}

LODE_ORDER(compare_bursts, Burst, LODE_ASCENDING(place.image), LODE_ASCENDING(place.address))

/* Bursts begin at random times, so that executions are as frequent as the mean of the bursts'
 * frequencies. */
static bool sum_up(const Burst *bursts, guint n, LodeReadPeriod *out)
{
	double rates = 0, squares = 0;

	*out = (LodeReadPeriod){.place = bursts->place, .n_bursts = n};
	for (guint i = 0; i < n; i++) {
		double rate = 1 / MAX(bursts[i].ns, SHORTEST_NS / 2);
		rates += rate;
		squares += rate * rate;
		out->n += bursts[i].n;
	}
	double mean = rates / n, spread = MAX(squares / n - mean * mean, 0);
	/* Of one burst nothing is known of how they differ. */
	double scatter = n > 1 ? sqrt(spread / (n - 1)) / mean : 0.5;
	out->ns = 1 / mean;
	out->error_ns = hypot(EVICTED_ERROR_NS, out->ns * scatter);
	return out->ns >= SHORTEST_NS;
}

LODE_ORDER(compare_hits, Burst, LODE_ASCENDING(hit_ns))

/* Leaves out those in which hits took longer than usual: something else slowed down the processor.
 */
static void leave_out_disturbed(LodeWindowPeriods *self)
{
	guint n = 0, all = self->bursts->len;

	g_array_sort(self->bursts, compare_hits);
	while (n < all && LODE_AT(self->bursts, Burst, n).hit_ns <=
				  SLOW_HIT * LODE_AT(self->bursts, Burst, all / 4).hit_ns)
		n++;
	g_array_set_size(self->bursts, n);
}

LODE_ORDER(compare_times, Burst, LODE_ASCENDING(tid), LODE_ASCENDING(time_ns))

void lode_window_periods_freeze(LodeWindowPeriods *self)
{
	end_burst(self);
	leave_out_disturbed(self);
	g_array_sort(self->bursts, compare_bursts);
	Burst *bursts = (Burst *)(void *)self->bursts->data;
	for (guint first = 0, end; first < self->bursts->len; first = end) {
		LodeReadPeriod period;
		for (end = first + 1; end < self->bursts->len &&
				      compare_bursts(&bursts[first], &bursts[end]) == 0;)
			end++;
		bool is_known = sum_up(bursts + first, end - first, &period);
		for (guint i = first; i < end; i++)
			bursts[i].period = is_known ? self->periods->len : LODE_NONE;
		if (is_known)
			g_array_append_val(self->periods, period);
	}
	g_array_sort(self->bursts, compare_times);
}

static void add_near(
	LodeWindowPeriods *self, uint32_t period, const LodePlace *place, double weight)
{
	const LodeIdKey key = {{place->address, (uint64_t)period << 32 | place->image, 0}};
	const LodeNearSample added = {period, *place, 0};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find_limited(&self->near_numbers, &key, MAX_NEAR, &is_new);

	LODE_AT(self->periods, LodeReadPeriod, period).near_weight += weight;
	if (slot == NULL)
		return;
	if (is_new) {
		slot->id = self->near->len;
		g_array_append_val(self->near, added);
	}
	LODE_AT(self->near, LodeNearSample, slot->id).weight += weight;
}

void lode_window_periods_add_sample(LodeWindowPeriods *self, uint32_t tid, uint64_t time_ns,
	const LodePlace *place, double weight)
{
	const Burst *bursts = (const Burst *)(const void *)self->bursts->data;
	uint64_t begin_ns = time_ns - MIN(time_ns, NEAR_NS);
	guint n = self->bursts->len;

	for (guint i = LODE_PARTITION_POINT(n, k,
		     bursts[k].tid < tid || (bursts[k].tid == tid && bursts[k].time_ns < begin_ns));
		i < n && bursts[i].tid == tid && bursts[i].time_ns <= time_ns + NEAR_NS; i++)
		if (bursts[i].period != LODE_NONE)
			add_near(self, bursts[i].period, place, weight);
}

const GArray *lode_window_periods_list(const LodeWindowPeriods *self)
{
	return self->periods;
}

const GArray *lode_window_periods_near(const LodeWindowPeriods *self)
{
	return self->near;
}
