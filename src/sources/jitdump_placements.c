/* SPDX-License-Identifier: MIT */
/*
 * Where units lay, and when: loads and moves in the order of time, each put over what lay there.
 * The result is an array by address, which is its own interval tree: the middle of a range of the
 * array is the root over it, and `reaches` has the furthest end below each root.
 */
#include "sources/jitdump_records.h"
#include "sources/live_ranges.h"

typedef struct {
	LodeJitdump *dump;
	LodeLiveRanges *live;
	GArray *ended;     /* LodeLiveRange, of the event at hand */
	GHashTable *units; /* the compiler's number → unit + 1, the last of that number */
	GArray *origins;   /* uint64_t × units: where each was put last */
} Placer;

static int compare_events(const void *a, const void *b, void *data)
{
	const LodeJitEvent *x = a, *y = b;

	(void)data;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int compare_placements(const void *a, const void *b, void *data)
{
	const LodeJitPlacement *x = a, *y = b;

	(void)data;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void add_placements(Placer *self, uint64_t end_ns)
{
	for (guint i = 0; i < self->ended->len; i++) {
		const LodeLiveRange *range = &g_array_index(self->ended, LodeLiveRange, i);
		LodeJitPlacement placement = {.address = range->start,
			.size = range->end - range->start,
			.offset = range->start - range->origin,
			.start_ns = range->since,
			.end_ns = end_ns,
			.unit = range->owner};

		/* what was overlaid in the moment it came was never there */
		if (placement.start_ns < end_ns)
			g_array_append_val(self->dump->placements, placement);
	}
	g_array_set_size(self->ended, 0);
}

/* The unit that a move means: what begins at the old address, or else has the number. */
static uint32_t moved_unit(const Placer *self, const LodeJitEvent *event)
{
	const LodeLiveRange *range = lode_live_ranges_find(self->live, event->old_address);
	void *found;

	if (range != NULL && range->origin == event->old_address)
		return range->owner;
	found = g_hash_table_lookup(self->units, &event->index);
	return GPOINTER_TO_UINT(found) - 1; /* UINT32_MAX where there is none */
}

static void place_unit(Placer *self, const LodeJitEvent *event, uint32_t unit)
{
	uint64_t size = g_array_index(self->dump->units, LodeJitUnit, unit).size;
	LodeLiveRange range = {.start = event->address,
		.end = event->address + size,
		.origin = event->address,
		.since = event->time_ns,
		.owner = unit};

	lode_live_ranges_put(self->live, &range, self->ended);
	g_array_index(self->origins, uint64_t, unit) = event->address;
}

static void place_moved(Placer *self, const LodeJitEvent *event)
{
	uint32_t unit = moved_unit(self, event);
	uint64_t size;

	if (unit >= self->dump->units->len) {
		self->dump->n_ignored++;
		return;
	}
	size = g_array_index(self->dump->units, LodeJitUnit, unit).size;
	if (size > UINT64_MAX - event->address || size > UINT64_MAX - event->old_address) {
		self->dump->n_ignored++;
		return;
	}
	/* Only where it was put last is it looked for: to search all that is live for it would take
	 * long in a hostile file. */
	if (g_array_index(self->origins, uint64_t, unit) == event->old_address)
		lode_live_ranges_remove(self->live, event->old_address, event->old_address + size,
			unit, self->ended);
	place_unit(self, event, unit);
}

static void place_event(Placer *self, const LodeJitEvent *event)
{
	if (event->is_move) {
		place_moved(self, event);
	} else {
		LodeJitUnit *unit = &g_array_index(self->dump->units, LodeJitUnit, event->unit);
		g_hash_table_insert(self->units, &unit->index, GUINT_TO_POINTER(event->unit + 1));
		place_unit(self, event, event->unit);
	}
	add_placements(self, event->time_ns);
}

static uint64_t find_reaches(LodeJitdump *self, guint low, guint high)
{
	guint middle = low + (high - low) / 2;
	const LodeJitPlacement *placement;
	uint64_t reach, left, right;

	if (low == high)
		return 0;
	placement = &g_array_index(self->placements, LodeJitPlacement, middle);
	reach = placement->address + placement->size;
	left = find_reaches(self, low, middle);
	right = find_reaches(self, middle + 1, high);
	reach = MAX(reach, MAX(left, right));
	g_array_index(self->reaches, uint64_t, middle) = reach;
	return reach;
}

void lode_jitdump_place(LodeJitdump *self, GArray *events)
{
	g_autoptr(LodeLiveRanges) live = lode_live_ranges_new();
	g_autoptr(GArray) ended = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));
	g_autoptr(GHashTable) units = g_hash_table_new(g_int64_hash, g_int64_equal);
	g_autoptr(GArray) origins = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	Placer placer = {self, live, ended, units, origins};

	g_array_set_size(origins, self->units->len);
	/* Both sorts are stable: where times are equal, the order of the file is that of time. */
	g_array_sort_with_data(events, compare_events, NULL);
	for (guint i = 0; i < events->len; i++)
		place_event(&placer, &g_array_index(events, LodeJitEvent, i));
	lode_live_ranges_list(live, ended);
	add_placements(&placer, UINT64_MAX);
	g_array_sort_with_data(self->placements, compare_placements, NULL);
	g_array_set_size(self->reaches, self->placements->len);
	find_reaches(self, 0, self->placements->len);
}

typedef struct Search Search;

struct Search {
	uint64_t address, time_ns;
	void (*visit)(Search *self, const LodeJitPlacement *placement);
	const LodeJitPlacement *best;
};

/* Visits the placements that hold the address, in their order, below the root of [low, high). */
static void search(const LodeJitdump *dump, guint low, guint high, Search *self)
{
	guint middle = low + (high - low) / 2;
	const LodeJitPlacement *placement;

	if (low == high || g_array_index(dump->reaches, uint64_t, middle) <= self->address)
		return;
	search(dump, low, middle, self);
	placement = &g_array_index(dump->placements, LodeJitPlacement, middle);
	if (placement->address > self->address)
		return;
	if (self->address - placement->address < placement->size)
		self->visit(self, placement);
	search(dump, middle + 1, high, self);
}

static void visit_now(Search *self, const LodeJitPlacement *placement)
{
	if (placement->start_ns <= self->time_ns && self->time_ns < placement->end_ns)
		self->best = placement;
}

static void visit_last(Search *self, const LodeJitPlacement *placement)
{
	if (self->best == NULL || placement->end_ns > self->best->end_ns)
		self->best = placement;
}

static void visit_next(Search *self, const LodeJitPlacement *placement)
{
	if (placement->start_ns > self->time_ns &&
		(self->best == NULL || placement->start_ns < self->best->start_ns))
		self->best = placement;
}

const LodeJitPlacement *lode_jitdump_find(
	const LodeJitdump *self, uint64_t address, uint64_t time_ns)
{
	Search now = {.address = address,
		.time_ns = time_ns,
		.visit = time_ns == UINT64_MAX ? visit_last : visit_now};

	search(self, 0, self->placements->len, &now);
	return now.best;
}

const LodeJitPlacement *lode_jitdump_find_next(
	const LodeJitdump *self, uint64_t address, uint64_t time_ns)
{
	Search next = {.address = address, .time_ns = time_ns, .visit = visit_next};

	search(self, 0, self->placements->len, &next);
	return next.best;
}
