/* SPDX-License-Identifier: MIT */
/*
 * Plays the events again in the order of time: a block lives from its allocation to its free; what
 * is mapped can be unmapped in parts, and mapped over.
 */
#include "base/error.h"
#include "sources/allocation_log_reader.h"
#include "sources/live_ranges.h"

enum { NOBODY = G_MAXUINT32 };

typedef struct {
	LodeAllocationLogReader *reader;
	GHashTable *live;       /* address → index of the block + 1 */
	LodeLiveRanges *mapped; /* owner: an index into events; NOBODY: unmapped */
	GArray *ended;          /* LodeLiveRange */
	GArray *maps;           /* LodeLoggedAllocation, appended to the blocks at the end */
} Replay;

static int compare_events(const void *a, const void *b)
{
	const LodeLogEvent *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static const LodeLogEvent *event_at(const Replay *self, guint index)
{
	return &g_array_index(self->reader->events, LodeLogEvent, index);
}

static void count(const Replay *self, const LodeLogEvent *event)
{
	if (event->stack == G_MAXUINT32)
		return;
	LodeAllocationStack *stack = &g_array_index(
		self->reader->log->stacks, LodeAllocationStack, event->stack);
	stack->kind = event->kind;
	stack->n_allocations++;
	stack->n_bytes += event->size;
}

static void end_block(const Replay *self, uint64_t address, uint64_t time_ns)
{
	gpointer key = GSIZE_TO_POINTER(address), index;

	if (!g_hash_table_steal_extended(self->live, key, NULL, &index))
		return;
	g_array_index(
		self->reader->log->allocations, LodeLoggedAllocation, GPOINTER_TO_UINT(index) - 1)
		.end_ns = time_ns;
}

static LodeLoggedAllocation allocation_of(const LodeLogEvent *event)
{
	return (LodeLoggedAllocation){
		.address = event->address,
		.size = event->size,
		.begin_ns = event->time_ns,
		.end_ns = UINT64_MAX,
		.tid = event->tid,
		.stack = event->stack,
		.kind = event->kind,
	};
}

/* Where one is already, its end was not seen. */
static void begin_block(const Replay *self, const LodeLogEvent *event)
{
	const LodeLoggedAllocation made = allocation_of(event);

	end_block(self, event->address, event->time_ns);
	g_array_append_val(self->reader->log->allocations, made);
	g_hash_table_insert(self->live, GSIZE_TO_POINTER(event->address),
		GUINT_TO_POINTER(self->reader->log->allocations->len));
}

static void keep_map(const Replay *self, const LodeLiveRange *range, uint64_t end_ns)
{
	if (range->owner == NOBODY || range->since >= end_ns)
		return;
	LodeLoggedAllocation piece = allocation_of(event_at(self, range->owner));
	piece.address = range->start;
	piece.size = range->end - range->start;
	piece.begin_ns = range->since;
	piece.end_ns = end_ns;
	g_array_append_val(self->maps, piece);
}

static void put_map(const Replay *self, const LodeLogEvent *event, uint32_t owner)
{
	const LodeLiveRange range = {
		.start = event->address,
		.end = event->address + event->size,
		.origin = event->address,
		.since = event->time_ns,
		.owner = owner,
	};

	if (event->size == 0)
		return;
	g_array_set_size(self->ended, 0);
	lode_live_ranges_put(self->mapped, &range, self->ended);
	for (guint i = 0; i < self->ended->len; i++)
		keep_map(self, &g_array_index(self->ended, LodeLiveRange, i), event->time_ns);
}

static void replay(const Replay *self, guint index)
{
	const LodeLogEvent *event = event_at(self, index);

	if (event->type == LODE_LOG_EVENT_MADE)
		count(self, event);
	if (event->type == LODE_LOG_EVENT_FREED)
		end_block(self, event->address, event->time_ns);
	else if (event->type == LODE_LOG_EVENT_UNMAPPED)
		put_map(self, event, NOBODY);
	else if (event->kind == LODE_ALLOCATION_MAP)
		put_map(self, event, index);
	else
		begin_block(self, event);
}

static bool add_to_index(Replay *self, LodeAllocationIndex *index, guint from, GError **error)
{
	const GArray *all = self->reader->log->allocations;

	for (guint i = from; i < all->len; i++) {
		const LodeLoggedAllocation *at = &g_array_index(all, LodeLoggedAllocation, i);
		const LodeIndexedRange range = {
			.start = at->address,
			.end = at->address + at->size,
			.begin_ns = at->begin_ns,
			.owner = i,
		};
		size_t bytes = lode_allocation_index_add(index, &range) + sizeof(*at);
		if (lode_memory_budget_charge(&self->reader->budget, bytes))
			continue;
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"the allocations need more memory than there is");
		return false;
	}
	lode_allocation_index_sort(index);
	return true;
}

/* Blocks first: they are added while the maps are not there yet. */
static bool build_index(Replay *self, GError **error)
{
	LodeAllocationLog *log = self->reader->log;
	guint n_blocks = log->allocations->len;

	if (!add_to_index(self, log->blocks, 0, error))
		return false;
	g_array_append_vals(log->allocations, self->maps->data, self->maps->len);
	return add_to_index(self, log->maps, n_blocks, error);
}

bool lode_allocation_log_find_lives(LodeAllocationLogReader *self, GError **error)
{
	g_autoptr(GHashTable) live = g_hash_table_new(NULL, NULL);
	g_autoptr(LodeLiveRanges) mapped = lode_live_ranges_new();
	g_autoptr(GArray) ended = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));
	g_autoptr(GArray) maps = g_array_new(FALSE, FALSE, sizeof(LodeLoggedAllocation));
	Replay state = {self, live, mapped, ended, maps};

	g_array_sort(self->events, compare_events);
	for (guint i = 0; i < self->events->len; i++)
		replay(&state, i);
	g_array_set_size(ended, 0);
	lode_live_ranges_list(mapped, ended);
	for (guint i = 0; i < ended->len; i++)
		keep_map(&state, &g_array_index(ended, LodeLiveRange, i), UINT64_MAX);
	return build_index(&state, error);
}
