/* SPDX-License-Identifier: MIT */
#include "record/probes/probe_places.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "record/probes/probe_events.h"

#include <string.h>
#include <sys/uio.h>

enum {
	MAX_IPS = 1 << 13, /* sampled addresses */
	MAX_PLACES = 1 << 12,
	NEW_IPS = 64,      /* whose code is looked at, in each choice */
	MAX_DECODED = 500, /* instructions, after a sampled one */
	MAX_LOOPS = 4,     /* around a sample */
	MAX_FUNCTIONS = 512,
	MAX_SITES = 4,     /* places of a function: its entry, and where calls return to */
	MAX_HOT = 32,      /* places that are passed over in a choice */
	STACK_WORDS = 128, /* looked through for a return address */
	CALL_BYTES = 5,    /* of a direct call */
	FIRST_HITS = 8,    /* of a place that was not hit yet */
	FEWEST_HITS = 6,
	COLD = 3,      /* hits at the beginning that say little… */
	DISARMING = 2, /* …and at the end */
	MOST_HITS = 31,
	ROUND_NS = 3 * 1000 * 1000, /* that hits may take */
	SHORTEST_NS = 300,          /* a period that hits say nothing about */
	ENOUGH_BURSTS = 8,
	GONE_AFTER = 3, /* times without a hit */
};

/* The share of samples that the lines of a breakpoint may have at most. */
static const double MOST_HEAT = 0.02;

static const uint64_t LONGEST_FUNCTION = 1 << 16;

/* What is left of the weight of samples when a place is chosen. */
static const double KEPT = 0.9;

typedef struct {
	uint64_t first, second; /* instructions; 0: it cannot be asked */
	uint64_t address;
	double weight; /* of samples, the last ones above all */
	uint32_t n_bursts;
	uint32_t n_misses; /* bursts in a row with too few hits */
	uint32_t n_short;  /* likewise, that were too short */
	double period_ns;  /* of the last burst */
} Place;

typedef struct {
	uint64_t address;
	uint32_t n; /* samples since the last choice */
	bool is_explored;
	uint32_t places[MAX_LOOPS];
	unsigned n_places;
} Ip;

typedef struct {
	uint64_t entry;
	uint32_t places[MAX_SITES];
	unsigned n_places;
} Function;

struct LodeProbePeriods {
	pid_t pid;
	LodeProbePlaces *code;                 /* borrowed */
	LodeIdCache ip_numbers, place_numbers; /* by address */
	GArray *ips, *places, *functions;
};

LodeProbePeriods *lode_probe_periods_new(pid_t pid, LodeProbePlaces *places)
{
	LodeProbePeriods *self = g_new0(LodeProbePeriods, 1);

	self->pid = pid;
	self->code = places;
	lode_id_cache_init(&self->ip_numbers);
	lode_id_cache_init(&self->place_numbers);
	self->ips = g_array_new(FALSE, TRUE, sizeof(Ip));
	self->places = g_array_new(FALSE, TRUE, sizeof(Place));
	self->functions = g_array_new(FALSE, TRUE, sizeof(Function));
	return self;
}

void lode_probe_periods_free(LodeProbePeriods *self)
{
	if (self == NULL)
		return;
	lode_id_cache_clear(&self->ip_numbers);
	lode_id_cache_clear(&self->place_numbers);
	g_array_unref(self->ips);
	g_array_unref(self->places);
	g_array_unref(self->functions);
	g_free(self);
}

void lode_probe_periods_add_sample(LodeProbePeriods *self, uint64_t address)
{
	const LodeIdKey key = {{address, 0, 0}};
	const Ip added = {.address = address};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find_limited(&self->ip_numbers, &key, MAX_IPS, &is_new);

	if (slot == NULL)
		return;
	if (is_new) {
		slot->id = self->ips->len;
		g_array_append_val(self->ips, added);
	}
	LODE_AT(self->ips, Ip, slot->id).n++;
}

/* --- places --- */

/* The second one may be a branch. */
static void find_neighbours(LodeProbePeriods *self, Place *place)
{
	LodeDecodedInstruction decoded;

	if (!lode_probe_places_decode(self->code, place->address, &decoded) ||
		decoded.branch != LODE_BRANCH_NONE || decoded.is_repeat ||
		(decoded.kinds & 1u << LODE_KIND_SYSCALL) != 0)
		return;
	uint64_t next = place->address + decoded.length;
	if (!lode_probe_places_decode(self->code, next, &decoded))
		return;
	place->first = place->address;
	place->second = next;
}

static uint32_t place_at(LodeProbePeriods *self, uint64_t address)
{
	const LodeIdKey key = {{address, 0, 0}};
	Place added = {.address = address};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find_limited(
		&self->place_numbers, &key, MAX_PLACES, &is_new);

	if (slot == NULL)
		return LODE_NONE;
	if (is_new) {
		slot->id = self->places->len;
		find_neighbours(self, &added);
		g_array_append_val(self->places, added);
	}
	return slot->id;
}

static void add_place(LodeProbePeriods *self, Ip *ip, uint64_t address)
{
	uint32_t place = ip->n_places < MAX_LOOPS ? place_at(self, address) : LODE_NONE;

	if (place != LODE_NONE)
		ip->places[ip->n_places++] = place;
}

/* Loops around the sample are jumps back over it, to the end of the function. */
static void explore(LodeProbePeriods *self, Ip *ip)
{
	uint64_t address = ip->address, furthest = 0, head = ip->address + 1;

	for (unsigned i = 0; i < MAX_DECODED; i++) {
		LodeDecodedInstruction decoded;
		if (!lode_probe_places_decode(self->code, address, &decoded))
			break;
		bool is_jump = decoded.branch == LODE_BRANCH_CONDITIONAL ||
		               decoded.branch == LODE_BRANCH_JUMP;
		bool is_near = is_jump && decoded.target - ip->address + LONGEST_FUNCTION <=
		                                  2 * LONGEST_FUNCTION;
		if (is_near && decoded.target < head) {
			head = decoded.target;
			add_place(self, ip, head);
		}
		if (is_near && decoded.branch == LODE_BRANCH_CONDITIONAL)
			furthest = MAX(furthest, decoded.target);
		bool goes_on = decoded.branch != LODE_BRANCH_RETURN &&
		               decoded.branch != LODE_BRANCH_STOP &&
		               decoded.branch != LODE_BRANCH_JUMP &&
		               decoded.branch != LODE_BRANCH_INDIRECT_JUMP;
		address += decoded.length;
		if (!goes_on && furthest < address)
			break;
	}
	ip->is_explored = true;
}

/* --- what is asked next --- */

/* The one that begins last before an address. */
static Function *find_function(LodeProbePeriods *self, uint64_t address)
{
	Function *found = NULL;

	for (guint i = 0; i < self->functions->len; i++) {
		Function *at = &LODE_AT(self->functions, Function, i);
		if (at->entry <= address && address - at->entry < LONGEST_FUNCTION &&
			(found == NULL || at->entry > found->entry))
			found = at;
	}
	return found;
}

static void add_weight(LodeProbePeriods *self, const uint32_t *places, unsigned n, double weight)
{
	for (unsigned i = 0; i < n; i++)
		LODE_AT(self->places, Place, places[i]).weight += weight;
}

static void weigh(LodeProbePeriods *self)
{
	unsigned n_new = 0;

	for (guint i = 0; i < self->places->len; i++)
		LODE_AT(self->places, Place, i).weight *= KEPT;
	for (guint i = 0; i < self->ips->len; i++) {
		Ip *ip = &LODE_AT(self->ips, Ip, i);
		if (ip->n == 0 || (!ip->is_explored && n_new == NEW_IPS))
			continue;
		if (!ip->is_explored) {
			n_new++;
			explore(self, ip);
		}
		const Function *function = find_function(self, ip->address);
		add_weight(self, ip->places, ip->n_places, ip->n);
		if (function != NULL)
			add_weight(self, function->places, function->n_places, ip->n);
		ip->n = 0;
	}
}

static double worth(const Place *place)
{
	if (place->first == 0 || place->n_misses >= GONE_AFTER || place->n_short >= 2)
		return 0;
	return place->weight / (1 + (double)place->n_bursts / ENOUGH_BURSTS * 4);
}

static bool is_hot(const LodeProbePeriods *self, const Place *place)
{
	return lode_probe_places_line_weight(self->code, place->first) > MOST_HEAT ||
	       lode_probe_places_line_weight(self->code, place->second) > MOST_HEAT;
}

/* The place of most worth among those after `before` in the order of worth and number; NULL: there
 * is none. */
static const Place *find_next(const LodeProbePeriods *self, const Place *before)
{
	const Place *best = NULL;

	for (guint i = 0; i < self->places->len; i++) {
		const Place *place = &LODE_AT(self->places, Place, i);
		double own = worth(place);
		bool is_after = before == NULL || own < worth(before) ||
		                (own <= worth(before) && place > before);
		if (is_after && own > (best != NULL ? worth(best) : 0))
			best = place;
	}
	return best;
}

bool lode_probe_periods_choose(LodeProbePeriods *self, LodeProbePair *out_pair)
{
	weigh(self);
	const Place *best = find_next(self, NULL);
	for (unsigned n_hot = 0; best != NULL && is_hot(self, best); n_hot++)
		best = n_hot < MAX_HOT ? find_next(self, best) : NULL;
	if (best == NULL)
		return false;
	bool is_known = best->n_bursts > 0 && best->n_short == 0;
	double n = is_known ? ROUND_NS / best->period_ns : FIRST_HITS;
	*out_pair = (LodeProbePair){
		best->first, best->second, (unsigned)CLAMP(n, FEWEST_HITS, MOST_HITS)};
	return true;
}

/* --- hits --- */

static void add_site(LodeProbePeriods *self, Function *function, uint64_t address)
{
	uint32_t place = function->n_places < MAX_SITES ? place_at(self, address) : LODE_NONE;

	for (unsigned i = 0; i < function->n_places; i++)
		if (function->places[i] == place)
			return;
	if (place != LODE_NONE)
		function->places[function->n_places++] = place;
}

/* A direct call that ends at an address, of a function that a hit may be in. */
static bool is_call(LodeProbePeriods *self, uint64_t end, uint64_t hit, uint64_t *out_entry)
{
	LodeDecodedInstruction decoded;

	if (end >> 47 != 0 || end <= CALL_BYTES ||
		!lode_probe_places_decode(self->code, end - CALL_BYTES, &decoded) ||
		decoded.branch != LODE_BRANCH_CALL || decoded.length != CALL_BYTES)
		return false;
	*out_entry = decoded.target;
	return decoded.target <= hit && hit - decoded.target < LONGEST_FUNCTION;
}

void lode_probe_periods_take_stack(LodeProbePeriods *self, const LodeProbeHit *hit)
{
	enum { RSP = 4 };
	uint64_t words[STACK_WORDS], entry;
	const struct iovec local = {words, sizeof(words)};
	const struct iovec remote = {(void *)(uintptr_t)hit->registers[RSP], sizeof(words)};
	ssize_t size = process_vm_readv(self->pid, &local, 1, &remote, 1, 0);
	size_t n = size > 0 ? (size_t)size / sizeof(words[0]) : 0, i = 0;

	while (i < n && !is_call(self, words[i], hit->address, &entry))
		i++;
	if (i == n)
		return;
	Function *function = find_function(self, entry);
	if ((function == NULL || function->entry != entry) &&
		self->functions->len < MAX_FUNCTIONS) {
		const Function added = {.entry = entry};
		g_array_append_val(self->functions, added);
		function = find_function(self, entry);
	}
	if (function == NULL || function->entry != entry)
		return;
	add_site(self, function, entry);
	add_site(self, function, words[i]);
}

typedef struct {
	int64_t ns;
} Offset;

LODE_ORDER(compare_offsets, Offset, LODE_ASCENDING(ns))

/* The clocks of the two events differ by a constant: in most pairs the thread ran all the time from
 * one hit to the other, as by the clock on the wall. */
static int64_t clock_offset(const LodeProbePair *pair, const LodeProbeHit *hits, size_t n)
{
	g_autoptr(GArray) offsets = g_array_new(FALSE, FALSE, sizeof(Offset));

	for (size_t i = 1; i < n; i++) {
		const LodeProbeHit *a = &hits[i - 1], *b = &hits[i];
		const Offset offset = {
			(int64_t)(b->ran_ns - a->ran_ns) - (int64_t)(b->time_ns - a->time_ns)};
		if (a->address == pair->first && b->address == pair->second)
			g_array_append_val(offsets, offset);
	}
	g_array_sort(offsets, compare_offsets);
	return offsets->len > 0 ? LODE_AT(offsets, Offset, offsets->len / 2).ns : 0;
}

static void set_times(
	const LodeProbePair *pair, const LodeProbeHit *hits, size_t n, uint64_t *out_times_ns)
{
	int64_t offset = clock_offset(pair, hits, n), first_ns = 0, last_ns = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t ran_ns = (int64_t)hits[i].ran_ns -
		                 (hits[i].address == pair->second ? offset : 0);
		first_ns = i > 0 ? first_ns : ran_ns;
		last_ns = MAX(last_ns, ran_ns - first_ns);
		out_times_ns[i] = (uint64_t)last_ns;
	}
}

static void take_burst(Place *place, const LodeProbePair *pair, const LodeProbeHit *hits, size_t n,
	const uint64_t *times_ns)
{
	g_autoptr(GArray) turns = g_array_new(FALSE, FALSE, sizeof(double));
	g_autoptr(GArray) of_hits = g_array_new(FALSE, FALSE, sizeof(double));

	for (size_t i = COLD; i + DISARMING < n; i++) {
		const double gap = (double)(times_ns[i] - times_ns[i - 1]);
		if (hits[i].address == pair->first)
			g_array_append_val(turns, gap);
		else
			g_array_append_val(of_hits, gap);
	}
	place->n_misses = turns->len >= 2 ? 0 : place->n_misses + 1;
	if (turns->len < 2)
		return;
	place->n_bursts++;
	place->period_ns = MAX(lode_median((double *)(void *)turns->data, turns->len) -
				       lode_median((double *)(void *)of_hits->data, of_hits->len),
		1);
	place->n_short = place->period_ns < SHORTEST_NS ? place->n_short + 1 : 0;
}

void lode_probe_periods_take(LodeProbePeriods *self, const LodeProbePair *pair,
	const LodeProbeHit *hits, size_t n_hits, uint64_t *out_times_ns)
{
	set_times(pair, hits, n_hits, out_times_ns);
	for (guint i = 0; i < self->places->len; i++) {
		Place *place = &LODE_AT(self->places, Place, i);
		if (place->first == pair->first)
			take_burst(place, pair, hits, n_hits, out_times_ns);
	}
	if (n_hits > 0)
		lode_probe_periods_take_stack(self, &hits[n_hits - 1]);
}
