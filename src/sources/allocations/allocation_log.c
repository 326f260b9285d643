/* SPDX-License-Identifier: MIT */
#include "sources/allocations/allocation_log.h"

#include "base/arrays/hash.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "base/files/input_file.h"
#include "sources/allocations/allocation_log_reader.h"

/* --- which block held an address --- */

/*
 * Which of many ranges of addresses, each there for a time, held an address at some time. A range
 * is cut into blocks of 2^k bytes that lie at multiples of 2^k; ranges in one block follow one
 * another in time, so that one is found by bisection:
 *
 *   level 5  │       B       │       C       │
 *   level 4  │ A │   │   │   │   │   │ A │ D │      B is 32 bytes, A and D are 16
 */

/* Each may have a range that holds an address. It is to be checked: a range is rounded to 16 bytes,
 * and its end is not known here. */
enum { ALLOCATION_INDEX_LEVELS = 64 };

typedef struct {
	uint64_t start, end; /* below 2^63 */
	uint64_t begin_ns;
	uint32_t owner;
} IndexedRange;

enum { LOWEST_LEVEL = 4 };

typedef struct {
	uint64_t block, begin_ns;
	uint32_t owner;
} Entry;

struct LodeAllocationIndex {
	GArray *levels[ALLOCATION_INDEX_LEVELS]; /* Entry; NULL: empty */
};

static LodeAllocationIndex *allocation_index_new(void)
{
	return g_new0(LodeAllocationIndex, 1);
}

static void allocation_index_free(LodeAllocationIndex *self)
{
	if (self == NULL)
		return;
	for (unsigned level = 0; level < ALLOCATION_INDEX_LEVELS; level++)
		g_clear_pointer(&self->levels[level], g_array_unref);
	g_free(self);
}

static void add_block(
	LodeAllocationIndex *self, unsigned level, uint64_t start, const IndexedRange *range)
{
	const Entry entry = {start >> level, range->begin_ns, range->owner};

	if (self->levels[level] == NULL)
		self->levels[level] = g_array_new(FALSE, FALSE, sizeof(Entry));
	g_array_append_val(self->levels[level], entry);
}

/* The largest block that begins at `start` and ends no later than `end`. */
static unsigned level_at(uint64_t start, uint64_t end)
{
	unsigned by_place = start == 0 ? 63 : (unsigned)__builtin_ctzll(start);
	unsigned by_size = 63 - (unsigned)__builtin_clzll(end - start);

	return MIN(by_place, by_size);
}

/* Adds a range; gives how many bytes that took. Ranges that are there at once must not overlap. */
static size_t allocation_index_add(LodeAllocationIndex *self, const IndexedRange *range)
{
	const uint64_t mask = LODE_BIT(LOWEST_LEVEL) - 1;
	uint64_t start = range->start & ~mask, end = (range->end + mask) & ~mask;
	size_t n = 0;

	if (range->start >= range->end)
		return 0;
	for (unsigned level; start < end; start += UINT64_C(1) << level, n++) {
		level = level_at(start, end);
		add_block(self, level, start, range);
	}
	return n * sizeof(Entry);
}

LODE_ORDER(compare, Entry, LODE_ASCENDING(block), LODE_ASCENDING(begin_ns))

/* After the last was added. */
static void allocation_index_sort(LodeAllocationIndex *self)
{
	for (unsigned level = 0; level < ALLOCATION_INDEX_LEVELS; level++)
		if (self->levels[level] != NULL)
			g_array_sort(self->levels[level], compare);
}

/* The last of the block that began at or before that time; NULL: none. */
static const Entry *find_in_level(const GArray *level, uint64_t block, uint64_t time_ns)
{
	const Entry *entries = (const Entry *)(const void *)level->data;
	guint low = LODE_PARTITION_POINT(level->len, i,
		entries[i].block < block ||
			(entries[i].block == block && entries[i].begin_ns <= time_ns));

	if (low == 0 || g_array_index(level, Entry, low - 1).block != block)
		return NULL;
	return &g_array_index(level, Entry, low - 1);
}

/* The owners that may hold the address then: the last that began of each level. Gives how many. */
static size_t allocation_index_find(
	const LodeAllocationIndex *self, uint64_t address, uint64_t time_ns, uint32_t *out_owners)
{
	size_t n = 0;

	for (unsigned i = LOWEST_LEVEL; i < ALLOCATION_INDEX_LEVELS; i++) {
		const Entry *entry = self->levels[i] != NULL
		                             ? find_in_level(self->levels[i], address >> i, time_ns)
		                             : NULL;
		if (entry != NULL)
			out_owners[n++] = entry->owner;
	}
	return n;
}

/* --- what lived when --- */

/*
 * Plays the events again in the order of time: a block lives from its allocation to its free; what
 * is mapped can be unmapped in parts, and mapped over. Where records are missing at the end,
 * nothing is known to live on after the last one.
 */

enum { NOBODY = G_MAXUINT32 };

/* Memory that must be available for what is appended: an array grows to twice its content. */
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

LODE_ORDER(compare_events, LodeLogEvent, LODE_ASCENDING(time_ns))

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
		const IndexedRange range = {
			.start = at->address,
			.end = at->address + at->size,
			.begin_ns = at->begin_ns,
			.owner = i,
		};
		size_t bytes = allocation_index_add(index, &range);
		if (!lode_allocation_log_charge(self->reader, bytes, error))
			return false;
	}
	allocation_index_sort(index);
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

/* From events to what lived when. */
static bool find_lives(LodeAllocationLogReader *self, GError **error)
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

/* --- the log --- */

static LodeAllocationLog *log_new(void)
{
	LodeAllocationLog *self = g_new0(LodeAllocationLog, 1);

	self->allocations = g_array_new(FALSE, FALSE, sizeof(LodeLoggedAllocation));
	self->stacks = g_array_new(FALSE, FALSE, sizeof(LodeAllocationStack));
	self->frames = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->threads = g_array_new(FALSE, FALSE, sizeof(LodeLoggedThread));
	self->blocks = allocation_index_new();
	self->maps = allocation_index_new();
	self->given_back = g_hash_table_new(lode_hash_pair, NULL);
	self->replaced = lode_live_ranges_new();
	self->replaced_ns = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	return self;
}

LODE_ORDER(compare_threads, LodeLoggedThread, LODE_ASCENDING(begin_ns))

static bool read_open(LodeAllocationLog *self, int descriptor, uint64_t size,
	uint64_t first_time_ns, GError **error)
{
	g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(LodeLogEvent));
	LodeAllocationLogReader reader = {
		.log = self,
		.events = events,
		.budget = {.limit_bytes = lode_memory_budget_available()},
		.first_time_ns = first_time_ns,
	};

	if (!lode_allocation_log_read_file(&reader, descriptor, size, error) ||
		!find_lives(&reader, error))
		return false;
	g_array_sort(self->threads, compare_threads);
	return true;
}

LodeAllocationLog *lode_allocation_log_read(const char *path, GError **error)
{
	return lode_allocation_log_read_traced(path, 0, error);
}

LodeAllocationLog *lode_allocation_log_read_traced(
	const char *path, uint64_t first_time_ns, GError **error)
{
	g_autoptr(LodeAllocationLog) self = log_new();
	g_autoptr(LodeInputFile) file = lode_input_file_open_unpacked(path, error);

	if (file == NULL)
		return NULL;
	if (read_open(self, file->fd, file->size, first_time_ns, error))
		return g_steal_pointer(&self);
	g_prefix_error(error, "%s: ", path);
	return NULL;
}

void lode_allocation_log_free(LodeAllocationLog *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->allocations);
	g_array_unref(self->stacks);
	g_array_unref(self->frames);
	g_array_unref(self->threads);
	allocation_index_free(self->blocks);
	allocation_index_free(self->maps);
	g_hash_table_unref(self->given_back);
	lode_live_ranges_free(self->replaced);
	g_array_unref(self->replaced_ns);
	g_free(self);
}

const LodeAllocationLogSummary *lode_allocation_log_summary(const LodeAllocationLog *self)
{
	return &self->summary;
}

uint32_t lode_allocation_log_pid(const LodeAllocationLog *self)
{
	return self->summary.pid;
}

const LodeLoggedAllocation *lode_allocation_log_allocations(
	const LodeAllocationLog *self, size_t *out_n)
{
	*out_n = self->allocations->len;
	return (const LodeLoggedAllocation *)self->allocations->data;
}

static bool holds(const LodeLoggedAllocation *self, uint64_t address, uint64_t time_ns)
{
	bool is_there = time_ns == UINT64_MAX || time_ns < self->end_ns;

	return address >= self->address && address - self->address < self->size && is_there;
}

/* The one that began last, if there are several. */
static const LodeLoggedAllocation *find_in(const LodeAllocationLog *self,
	const LodeAllocationIndex *index, uint64_t address, uint64_t time_ns)
{
	uint32_t owners[ALLOCATION_INDEX_LEVELS];
	size_t n = allocation_index_find(index, address, time_ns, owners);
	const LodeLoggedAllocation *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const LodeLoggedAllocation *at = &g_array_index(
			self->allocations, LodeLoggedAllocation, owners[i]);
		if (holds(at, address, time_ns) && (best == NULL || at->begin_ns > best->begin_ns))
			best = at;
	}
	return best;
}

const LodeLoggedAllocation *lode_allocation_log_find(
	const LodeAllocationLog *self, uint64_t address, uint64_t time_ns)
{
	/* a heap lies in mappings of its own: the block in one says more than the mapping */
	const LodeLoggedAllocation *found = find_in(self, self->blocks, address, time_ns);

	return found != NULL ? found : find_in(self, self->maps, address, time_ns);
}

bool lode_allocation_log_has_given_back(const LodeAllocationLog *self,
	const LodeLoggedAllocation *inherited, uint64_t address, uint64_t time_ns)
{
	void *freed_ns;

	if (inherited->kind == LODE_ALLOCATION_MAP) {
		const LodeLiveRange *range = lode_live_ranges_find(self->replaced, address);
		return range != NULL &&
		       g_array_index(self->replaced_ns, uint64_t, range->owner) <= time_ns;
	}
	return g_hash_table_lookup_extended(
		       self->given_back, GSIZE_TO_POINTER(inherited->address), NULL, &freed_ns) &&
	       GPOINTER_TO_SIZE(freed_ns) <= time_ns;
}

size_t lode_allocation_log_n_stacks(const LodeAllocationLog *self)
{
	return self->stacks->len;
}

LodeAllocationStack lode_allocation_log_stack(const LodeAllocationLog *self, size_t index)
{
	return g_array_index(self->stacks, LodeAllocationStack, index);
}

const LodeLoggedThread *lode_allocation_log_threads(const LodeAllocationLog *self, size_t *out_n)
{
	*out_n = self->threads->len;
	return (const LodeLoggedThread *)self->threads->data;
}
