/* SPDX-License-Identifier: MIT */
/*
 * Plays the events again in the order of time: a block lives from its allocation to its free; what
 * is mapped can be unmapped in parts, and mapped over. Where records are missing at the end,
 * nothing is known to live on after the last one.
 */
#include "base/hash.h"
#include "sources/allocation_log_reader.h"

enum { NOBODY = G_MAXUINT32 };

/* Memory to be had, by what is appended: an array grows to twice what is in it. */
enum {
	ALLOCATION_BYTES = 2 * sizeof(LodeLoggedAllocation),
	LIVE_ENTRY_BYTES = 64,
	MAP_ENTRY_BYTES = 4 * sizeof(LodeLiveRange), /* a range, and the rest of one it cuts */
};

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
	stack->n_bytes = event->size > UINT64_MAX - stack->n_bytes ? UINT64_MAX
	                                                           : stack->n_bytes + event->size;
}

/* False: there is none. */
static bool end_block(const Replay *self, uint64_t address, uint64_t time_ns)
{
	gpointer key = GSIZE_TO_POINTER(address), index;

	if (!g_hash_table_steal_extended(self->live, key, NULL, &index))
		return false;
	g_array_index(
		self->reader->log->allocations, LodeLoggedAllocation, GPOINTER_TO_UINT(index) - 1)
		.end_ns = time_ns;
	return true;
}

/* A block that this process did not allocate: it had it from the one that forked it. */
static bool give_back(const Replay *self, const LodeLogEvent *event, GError **error)
{
	GHashTable *given_back = self->reader->log->given_back;
	gpointer key = GSIZE_TO_POINTER(event->address);

	if (g_hash_table_contains(given_back, key))
		return true;
	if (!lode_allocation_log_charge(self->reader, LIVE_ENTRY_BYTES, error))
		return false;
	g_hash_table_insert(given_back, key, GSIZE_TO_POINTER(event->time_ns));
	return true;
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
static bool begin_block(const Replay *self, const LodeLogEvent *event, GError **error)
{
	const LodeLoggedAllocation made = allocation_of(event);

	if (!lode_allocation_log_charge(self->reader, ALLOCATION_BYTES + LIVE_ENTRY_BYTES, error))
		return false;
	end_block(self, event->address, event->time_ns);
	g_array_append_val(self->reader->log->allocations, made);
	g_hash_table_insert(self->live, GSIZE_TO_POINTER(event->address),
		GUINT_TO_POINTER(self->reader->log->allocations->len));
	return true;
}

/* It is appended twice: to the maps, and with them to the blocks. */
static bool keep_map(
	const Replay *self, const LodeLiveRange *range, uint64_t end_ns, GError **error)
{
	if (range->owner == NOBODY || range->since >= end_ns)
		return true;
	if (!lode_allocation_log_charge(self->reader, 2 * ALLOCATION_BYTES, error))
		return false;
	LodeLoggedAllocation piece = allocation_of(event_at(self, range->owner));
	piece.address = range->start;
	piece.size = range->end - range->start;
	piece.begin_ns = range->since;
	piece.end_ns = end_ns;
	g_array_append_val(self->maps, piece);
	return true;
}

static bool keep_ended(const Replay *self, uint64_t end_ns, GError **error)
{
	for (guint i = 0; i < self->ended->len; i++)
		if (!keep_map(self, &g_array_index(self->ended, LodeLiveRange, i), end_ns, error))
			return false;
	return true;
}

static bool put_map(const Replay *self, const LodeLogEvent *event, uint32_t owner, GError **error)
{
	const LodeLiveRange range = {
		.start = event->address,
		.end = event->address + event->size,
		.origin = event->address,
		.since = event->time_ns,
		.owner = owner,
	};

	if (event->size == 0)
		return true;
	if (!lode_allocation_log_charge(self->reader, MAP_ENTRY_BYTES, error))
		return false;
	g_array_set_size(self->ended, 0);
	lode_live_ranges_put(self->mapped, &range, self->ended);
	return keep_ended(self, event->time_ns, error);
}

static bool replay(const Replay *self, guint index, GError **error)
{
	const LodeLogEvent *event = event_at(self, index);

	if (event->type == LODE_LOG_EVENT_MADE)
		count(self, event);
	if (event->type == LODE_LOG_EVENT_UNMAPPED)
		return put_map(self, event, NOBODY, error);
	if (event->type == LODE_LOG_EVENT_MADE)
		return event->kind == LODE_ALLOCATION_MAP ? put_map(self, event, index, error)
		                                          : begin_block(self, event, error);
	return end_block(self, event->address, event->time_ns) || give_back(self, event, error);
}

/* Back in time, so that what was first is put last and stays. */
static bool find_replaced(const Replay *self, GError **error)
{
	LodeAllocationLog *log = self->reader->log;

	for (guint i = self->reader->events->len; i-- > 0;) {
		const LodeLogEvent *event = event_at(self, i);
		const LodeLiveRange range = {
			.start = event->address,
			.end = event->address + event->size,
			.origin = event->address,
			.owner = log->replaced_ns->len,
		};
		if (event->size == 0 || event->type == LODE_LOG_EVENT_FREED ||
			(event->type == LODE_LOG_EVENT_MADE && event->kind != LODE_ALLOCATION_MAP))
			continue;
		if (!lode_allocation_log_charge(self->reader, MAP_ENTRY_BYTES, error))
			return false;
		g_array_append_val(log->replaced_ns, event->time_ns);
		lode_live_ranges_put(log->replaced, &range, NULL);
	}
	return true;
}

/* UINT64_MAX, or where records are missing just after the last one. */
static uint64_t last_known_ns(const LodeAllocationLogReader *reader)
{
	const LodeAllocationLogSummary *summary = &reader->log->summary;
	guint n = reader->events->len;

	if (n == 0 || (summary->n_dropped == 0 && !summary->is_truncated))
		return UINT64_MAX;
	uint64_t last_ns = g_array_index(reader->events, LodeLogEvent, n - 1).time_ns;
	return last_ns < UINT64_MAX ? last_ns + 1 : UINT64_MAX;
}

static bool end_lives(const Replay *self, uint64_t end_ns, GError **error)
{
	GArray *blocks = self->reader->log->allocations;

	for (guint i = 0; i < blocks->len; i++) {
		LodeLoggedAllocation *block = &g_array_index(blocks, LodeLoggedAllocation, i);
		if (block->end_ns == UINT64_MAX)
			block->end_ns = end_ns;
	}
	g_array_set_size(self->ended, 0);
	lode_live_ranges_list(self->mapped, self->ended);
	return keep_ended(self, end_ns, error);
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
		size_t bytes = lode_allocation_index_add(index, &range);
		if (!lode_allocation_log_charge(self->reader, bytes, error))
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
	g_autoptr(GHashTable) live = g_hash_table_new(lode_hash_pair, NULL);
	g_autoptr(LodeLiveRanges) mapped = lode_live_ranges_new();
	g_autoptr(GArray) ended = g_array_new(FALSE, FALSE, sizeof(LodeLiveRange));
	g_autoptr(GArray) maps = g_array_new(FALSE, FALSE, sizeof(LodeLoggedAllocation));
	Replay state = {self, live, mapped, ended, maps};

	g_array_sort(self->events, compare_events);
	if (self->events->len > 0)
		self->log->summary.last_ns =
			g_array_index(self->events, LodeLogEvent, self->events->len - 1).time_ns;
	for (guint i = 0; i < self->events->len; i++)
		if (!replay(&state, i, error))
			return false;
	return find_replaced(&state, error) && end_lives(&state, last_known_ns(self), error) &&
	       build_index(&state, error);
}
