/* SPDX-License-Identifier: MIT */
/*
 * A reference asks the levels in their order until one has all its lines; each that does not have
 * them brings them in. Then its write goes where the first level does not keep it, then prefetchers
 * act.
 */
#include "caches/sets/cache_access.h"

#include "base/bits.h"
#include "caches/sets/line_stores.h"
#include "caches/sets/miss_classes.h"
#include "caches/sets/stride_table.h"

/* The data of a reference, including that which its misses report. */
typedef struct {
	uint64_t first, last; /* bytes; the latter not below the former */
	uint64_t instruction; /* its address; of data, where some cache is trained by it, or misses
	                         name stores */
	LodeReferenceKind kind;
	LodeCacheMiss *miss; /* its place, filled in but for what a cache knows */
} Access;

/* --- lines come in and go, with what that does to later levels and to other cores --- */

static void write_lines(LodeCacheCore *core, unsigned level, uint64_t first, uint64_t last);

static void write_to_followers(const LodeCacheFollowers *followers, uint64_t first, uint64_t last)
{
	for (guint i = 0; followers->machines != NULL && i < followers->machines->len; i++) {
		const LodeCacheMachine *machine = followers->machines->pdata[i];

		write_lines(machine->cores[0], 0, first, last);
	}
	for (guint i = 0; followers->stacks != NULL && i < followers->stacks->len; i++)
		lode_set_stacks_write(followers->stacks->pdata[i], first, last);
}

/*
 * Bytes [first, last] are written to the data path of a core from a level on: each part to the
 * first level that has the line and keeps written lines; what none has goes to memory. Changes
 * nothing but marks, so that no miss depends on it.
 */
static void write_lines(LodeCacheCore *core, unsigned level, uint64_t first, uint64_t last)
{
	const LodeCacheCopy *copy = core->data[level];
	unsigned shift;

	if (copy == NULL) {
		write_to_followers(core->followers, first, last);
		return;
	}
	shift = copy->line_shift;
	for (uint64_t line = first >> shift;; line++) {
		uint64_t *entry = copy->cache->is_write_through
		                          ? NULL
		                          : lode_cache_sets_find(&copy->sets, line);

		if (entry != NULL)
			*entry |= LODE_LINE_DIRTY;
		else
			write_lines(core, level + 1, MAX(first, line << shift),
				MIN(last, line << shift | (LODE_BIT(shift) - 1)));
		if (line == last >> shift)
			break;
	}
}

static void write_back(LodeCacheCore *core, LodeCacheCopy *copy, uint64_t line)
{
	uint64_t first = line << copy->line_shift;

	copy->counts->write_backs++;
	write_lines(core, copy->data_level + 1u, first, first | (LODE_BIT(copy->line_shift) - 1));
}

/* Brings in a line that the copy does not hold; what goes is written back where it has to be.
 * `out_had_room`: nothing had to go; may be NULL. */
static uint64_t *fill_line(LodeCacheMachine *machine, LodeCacheCore *core, LodeCacheCopy *copy,
	uint64_t line, bool *out_had_room)
{
	uint64_t victim;
	uint64_t *entry = lode_cache_sets_fill(&copy->sets, line, &victim);

	if (out_had_room != NULL)
		*out_had_room = victim == 0;
	if (victim & LODE_LINE_DIRTY)
		write_back(core, copy, lode_line_number(victim));
	if (copy->is_coherent && machine->classifies)
		lode_miss_classes_regain(copy->classes, line);
	if (copy->stores != NULL)
		lode_line_stores_remove(copy->stores, line);
	return entry;
}

static void take_from_copy(
	LodeCacheCore *holder, LodeCacheCopy *copy, uint64_t line, uint64_t bytes)
{
	uint64_t *entry = lode_cache_sets_find(&copy->sets, line);

	if (entry != NULL) {
		if (*entry & LODE_LINE_DIRTY)
			write_back(holder, copy, line);
		lode_cache_sets_remove(&copy->sets, entry);
		copy->counts->invalidations++;
	}
	if (copy->classes != NULL)
		lode_miss_classes_lose(copy->classes, line, bytes, entry != NULL);
}

/*
 * MESI, between the private caches of cores that hold data. A store by `core`: others lose the
 * line, after they wrote it back where it was dirty. `bytes` are bits of the line, see
 * bytes_of_line().
 */
static void take_line(
	LodeCacheMachine *machine, const LodeCacheCore *core, uint64_t line, uint64_t bytes)
{
	for (unsigned i = 0; i < LODE_HIERARCHY_MAX_CORES; i++) {
		LodeCacheCore *other = machine->cores[i];

		if (other == NULL || other == core)
			continue;
		for (LodeCacheCopy **copy = other->data; *copy != NULL; copy++) {
			if ((*copy)->is_coherent)
				take_from_copy(other, *copy, line, bytes);
		}
	}
}

static bool share_of_copy(LodeCacheCore *holder, LodeCacheCopy *copy, uint64_t line)
{
	uint64_t *entry = lode_cache_sets_find(&copy->sets, line);

	if (entry == NULL)
		return false;
	if (*entry & LODE_LINE_DIRTY)
		write_back(holder, copy, line);
	*entry &= ~(uint64_t)(LODE_LINE_DIRTY | LODE_LINE_OWNED);
	return true;
}

/* Another core's miss: the line is no longer owned or dirty anywhere; whether any other holds it.
 */
static bool share_line(LodeCacheMachine *machine, const LodeCacheCore *core, uint64_t line)
{
	bool is_shared = false;

	for (unsigned i = 0; i < LODE_HIERARCHY_MAX_CORES; i++) {
		LodeCacheCore *other = machine->cores[i];

		if (other == NULL || other == core)
			continue;
		for (LodeCacheCopy **copy = other->data; *copy != NULL; copy++) {
			if ((*copy)->is_coherent)
				is_shared |= share_of_copy(other, *copy, line);
		}
	}
	return is_shared;
}

/* After a store: no other core holds the line. */
static void own_line(LodeCacheCore *core, uint64_t line)
{
	for (LodeCacheCopy **copy = core->data; *copy != NULL; copy++) {
		uint64_t *entry = (*copy)->is_coherent ? lode_cache_sets_find(&(*copy)->sets, line)
		                                       : NULL;

		if (entry != NULL)
			*entry |= LODE_LINE_OWNED;
	}
}

/* The bytes [first, last] of a line as bits: one a byte, or one for each 64th of a longer line. */
static uint64_t bytes_of_line(uint64_t line, unsigned line_shift, uint64_t first, uint64_t last)
{
	uint64_t start = line << line_shift;
	unsigned part_shift = line_shift > 6 ? line_shift - 6 : 0;
	uint64_t end = start | (LODE_BIT(line_shift) - 1);
	unsigned low = (unsigned)((MAX(first, start) - start) >> part_shift);
	unsigned high = (unsigned)((MIN(last, end) - start) >> part_shift);

	return ~UINT64_C(0) >> (63 - high) & ~UINT64_C(0) << low;
}

/* --- a reference asks the levels --- */

/* The request to a level. */
typedef struct {
	LodeCacheMachine *machine;
	LodeCacheCore *core;
	const Access *access;
	bool is_cold; /* the miss in the level before was a cold one */
} Request;

static bool is_write(LodeReferenceKind kind)
{
	return kind == LODE_REFERENCE_STORE || kind == LODE_REFERENCE_MODIFY;
}

/* The line was not there: it comes in, unless it is a store that brings none. Gives whether the set
 * had room. */
static bool bring_in(const Request *request, LodeCacheCopy *copy, uint64_t line, bool marks_dirty)
{
	LodeReferenceKind kind = request->access->kind;
	bool is_shared = false, had_room;
	uint64_t *entry;

	if (copy->is_coherent && !is_write(kind))
		is_shared = share_line(request->machine, request->core, line);
	if (copy->cache->is_no_allocate && kind == LODE_REFERENCE_STORE)
		return lode_cache_sets_has_room(&copy->sets, line);
	entry = fill_line(request->machine, request->core, copy, line, &had_room);
	if (marks_dirty)
		*entry |= LODE_LINE_DIRTY;
	if (copy->is_coherent && !is_shared)
		*entry |= LODE_LINE_OWNED;
	return had_room;
}

/* How a line was found. */
typedef enum {
	HELD,
	MISSED, /* the set was full */
	COLD,   /* a miss, in a set that was not full */
} Found;

static Found use_line(const Request *request, LodeCacheCopy *copy, uint64_t line, bool marks_dirty)
{
	uint64_t *entry = lode_cache_sets_touch(&copy->sets, line);

	if (entry == NULL)
		return bring_in(request, copy, line, marks_dirty) ? COLD : MISSED;
	if (*entry & LODE_LINE_PREFETCHED) {
		*entry &= ~(uint64_t)LODE_LINE_PREFETCHED;
		copy->counts->useful_prefetches++;
	}
	if (marks_dirty)
		*entry |= LODE_LINE_DIRTY;
	return HELD;
}

static LodeMissClass class_of_line(const Request *request, LodeCacheCopy *copy, uint64_t line)
{
	const Access *access = request->access;
	bool brings_in = !copy->cache->is_no_allocate || access->kind != LODE_REFERENCE_STORE;

	if (copy->classes == NULL)
		return LODE_N_MISS_CLASSES;
	return lode_miss_classes_access(copy->classes, line,
		bytes_of_line(line, copy->line_shift, access->first, access->last), brings_in);
}

/* Names the store for a line that misses by sharing, before the line is filled again. */
static G_NO_INLINE void name_store(
	const Request *request, const LodeCacheCopy *copy, uint64_t line, LodeMissClass miss_class)
{
	const Access *access = request->access;

	if (copy->stores == NULL ||
		(miss_class != LODE_MISS_TRUE_SHARING && miss_class != LODE_MISS_FALSE_SHARING))
		return;
	access->miss->has_store = lode_line_stores_find(copy->stores, line,
		bytes_of_line(line, copy->line_shift, access->first, access->last), miss_class,
		&access->miss->store);
	access->miss->lost_line = line << copy->line_shift;
}

static void report_miss(const Request *request, const LodeCacheCopy *copy, LodeMissClass miss_class)
{
	const LodeCacheMachine *machine = request->machine;
	LodeCacheMiss *miss = request->access->miss;

	copy->counts->misses[request->access->kind]++;
	if (miss_class < LODE_N_MISS_CLASSES)
		copy->counts->classes[miss_class]++;
	if (machine->on_miss == NULL)
		return;
	miss->hierarchy = machine->number;
	miss->cache = copy->index;
	miss->miss_class = (uint8_t)miss_class;
	machine->on_miss(miss, machine->user_data);
}

/* Whether all lines were there; the class of a miss is that of the first line that was not. */
static bool ask(Request *request, LodeCacheCopy *copy, bool marks_dirty)
{
	const Access *access = request->access;
	uint64_t last = access->last >> copy->line_shift;
	LodeMissClass first_class = LODE_N_MISS_CLASSES;
	bool names_stores = request->machine->names_stores;
	bool is_hit = true, is_cold = true;

	if (names_stores)
		access->miss->has_store = false;
	for (uint64_t line = access->first >> copy->line_shift;; line++) {
		LodeMissClass line_class = class_of_line(request, copy, line);
		if (names_stores && is_hit)
			name_store(request, copy, line, line_class);
		Found found = use_line(request, copy, line, marks_dirty);

		if (found != HELD && is_hit)
			first_class = line_class;
		is_hit &= found == HELD;
		is_cold &= found != MISSED;
		if (line == last)
			break;
	}
	if (is_hit)
		return true;
	request->is_cold |= is_cold;
	copy->counts->cold_misses += request->is_cold;
	report_miss(request, copy, first_class);
	return false;
}

/* The levels in their order, from one on; gives how many of all missed, with those before. */
static unsigned ask_path(
	Request *request, LodeCacheCopy *const *path, unsigned level, bool marks_dirty)
{
	while (path[level] != NULL) {
		/* all references reach the first level, most without coming here */
		if (path[level]->cache->level > 1)
			path[level]->counts->accesses[request->access->kind]++;
		if (ask(request, path[level], marks_dirty && level == 0))
			break;
		level++;
	}
	return level;
}

static LodeCacheCopy *const *path_of(const LodeCacheCore *core, bool is_fetch, bool is_tlb)
{
	if (is_tlb)
		return is_fetch ? core->fetch_tlbs : core->data_tlbs;
	return is_fetch ? core->fetches : core->data;
}

/* No level of the machine had it. */
static void ask_followers(const Request *request, bool is_tlb)
{
	const LodeCacheFollowers *followers = request->core->followers;
	const Access *access = request->access;
	bool is_fetch = access->kind == LODE_REFERENCE_FETCH;

	for (guint i = 0; followers->machines != NULL && i < followers->machines->len; i++) {
		LodeCacheMachine *machine = followers->machines->pdata[i];
		Request next = {machine, machine->cores[0], access, request->is_cold};
		LodeCacheCopy *const *path = path_of(next.core, is_fetch, is_tlb);

		if (path[ask_path(&next, path, 0, false)] == NULL)
			ask_followers(&next, is_tlb);
	}
	for (guint i = 0; followers->stacks != NULL && i < followers->stacks->len; i++) {
		LodeSetStacks *stacks = followers->stacks->pdata[i];

		const LodeSetStacksAccess next = {
			access->kind, access->first, access->last, .is_cold = request->is_cold};

		stacks->counts.accesses[access->kind]++;
		lode_set_stacks_access(stacks, &next);
	}
}

/* Whether the line was there; else it is now. */
static bool bring_ahead(const Request *request, LodeCacheCopy *copy, uint64_t line, unsigned flags)
{
	bool is_shared = false;
	uint64_t *entry = lode_cache_sets_touch(&copy->sets, line);

	if (entry != NULL)
		return true;
	if (copy->is_coherent)
		is_shared = share_line(request->machine, request->core, line);
	entry = fill_line(request->machine, request->core, copy, line, NULL);
	*entry |= flags;
	if (copy->is_coherent && !is_shared)
		*entry |= LODE_LINE_OWNED;
	return false;
}

/* The line into the copy at that level, through the levels after it. */
static void prefetch(
	const Request *request, LodeCacheCopy *const *path, unsigned level, uint64_t line)
{
	uint64_t first = line << path[level]->line_shift;
	uint64_t last = first | (LODE_BIT(path[level]->line_shift) - 1);
	bool is_there = false;

	if (lode_cache_sets_find(&path[level]->sets, line) != NULL)
		return;
	bring_ahead(request, path[level], line, LODE_LINE_PREFETCHED);
	path[level]->counts->prefetches++;
	for (path += level + 1; *path != NULL && !is_there; path++) {
		is_there = true;
		for (line = first >> (*path)->line_shift;; line++) {
			is_there &= bring_ahead(request, *path, line, 0);
			if (line == last >> (*path)->line_shift)
				break;
		}
	}
}

static void prefetch_by_stride(const Request *request, LodeCacheCopy *const *path, unsigned level)
{
	const Access *access = request->access;
	const LodeCacheCopy *copy = path[level];
	uint64_t next;

	if (access->kind == LODE_REFERENCE_FETCH)
		return;
	if (!lode_stride_table_train(copy->strides, access->instruction,
		    access->kind == LODE_REFERENCE_STORE, access->first, &next))
		return;
	next >>= copy->line_shift;
	if (next < access->first >> copy->line_shift || next > access->last >> copy->line_shift)
		prefetch(request, path, level, next);
}

static void prefetch_on_path(const Request *request, LodeCacheCopy *const *path, unsigned n_missed)
{
	for (unsigned level = 0; level <= n_missed && path[level] != NULL; level++) {
		const LodeCacheCopy *copy = path[level];
		uint64_t line = request->access->last >> copy->line_shift;

		if (copy->strides != NULL)
			prefetch_by_stride(request, path, level);
		else if (copy->cache->prefetch == LODE_PREFETCH_NEXT_LINE && level < n_missed &&
			 line < copy->last_line)
			prefetch(request, path, level, line + 1);
	}
}

/* A store that finds its line owned need not ask the other cores. */
static bool is_owned(const LodeCacheCore *core, uint64_t line)
{
	const LodeCacheCopy *copy = core->data[0];
	const uint64_t *entry = copy->is_coherent ? lode_cache_sets_find(&copy->sets, line) : NULL;

	return entry != NULL && (*entry & LODE_LINE_OWNED);
}

/* Called before the line is taken. A function of its own, as lines are taken also where the store
 * is not wanted. */
static G_NO_INLINE void note_store(const Request *request, uint64_t line, unsigned shift)
{
	const Access *access = request->access;
	const LodeCacheMachine *machine = request->machine;
	uint64_t start = line << shift, end = start | (LODE_BIT(shift) - 1);
	uint64_t bytes = bytes_of_line(line, shift, access->first, access->last);
	const LodeCacheStore store = {
		.instruction = access->instruction,
		.thread = access->miss->thread,
		.first = (uint16_t)(MAX(access->first, start) - start),
		.last = (uint16_t)(MIN(access->last, end) - start),
	};

	for (unsigned i = 0; i < LODE_HIERARCHY_MAX_CORES; i++) {
		const LodeCacheCore *other = machine->cores[i];

		if (other == NULL || other == request->core)
			continue;
		for (LodeCacheCopy *const *copy = other->data; *copy != NULL; copy++) {
			if ((*copy)->stores != NULL)
				lode_line_stores_add((*copy)->stores, line, bytes, &store,
					lode_cache_sets_find(&(*copy)->sets, line) != NULL);
		}
	}
}

static void take_lines(const Request *request)
{
	const Access *access = request->access;
	unsigned shift = request->machine->coherent_shift;

	for (uint64_t line = access->first >> shift;; line++) {
		if (request->machine->names_stores)
			note_store(request, line, shift);
		if (request->machine->classifies || !is_owned(request->core, line))
			take_line(request->machine, request->core, line,
				bytes_of_line(line, shift, access->first, access->last));
		if (line == access->last >> shift)
			break;
	}
}

static void own_lines(const Request *request)
{
	const Access *access = request->access;
	unsigned shift = request->machine->coherent_shift;

	for (uint64_t line = access->first >> shift;; line++) {
		own_line(request->core, line);
		if (line == access->last >> shift)
			break;
	}
}

/* Counts are those of the machine; of the first level, accesses are not counted, since most never
 * come here. */
static void look_up(
	LodeCacheMachine *machine, LodeCacheCore *core, const Access *access, unsigned parts)
{
	Request request = {machine, core, access, false};
	bool is_fetch = access->kind == LODE_REFERENCE_FETCH, writes = is_write(access->kind);
	LodeCacheCopy *const *path = path_of(core, is_fetch, true);
	unsigned n_missed;

	if ((parts & LODE_ACCESS_TLBS) && path[ask_path(&request, path, 0, false)] == NULL)
		ask_followers(&request, true);
	path = path_of(core, is_fetch, false);
	request.is_cold = false;
	if (!(parts & LODE_ACCESS_CACHES) || path[0] == NULL)
		return;
	if (writes && machine->has_coherence)
		take_lines(&request);
	n_missed = ask_path(&request, path, 0, writes && machine->writes_at_once);
	if (path[n_missed] == NULL)
		ask_followers(&request, false);
	if (writes && !machine->writes_at_once)
		write_lines(core, 0, access->first, access->last);
	if (writes && machine->has_coherence)
		own_lines(&request);
	prefetch_on_path(&request, path, n_missed);
}

/* --- references of a frame --- */

static uint64_t instruction_address(const LodeTraceFrame *frame, const LodeFilteredReference *at)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		frame->dictionary, frame->blocks[at->invocation]);
	uint64_t address = block->address;

	for (unsigned i = 0; i < at->instruction && i < block->n_instructions; i++)
		address += block->instruction_sizes[i];
	return address;
}

/* The size that the trace gives, not the part of it that is looked up. */
static uint32_t traced_size(const LodeTraceFrame *frame, const LodeFilteredReference *at)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		frame->dictionary, frame->blocks[at->invocation]);

	return at->kind == LODE_REFERENCE_FETCH ? block->instruction_sizes[at->instruction]
	                                        : block->slots[at->slot].size;
}

static void place_miss(
	LodeCacheMiss *miss, const LodeTraceFrame *frame, const LodeFilteredReference *at)
{
	miss->block = frame->blocks[at->invocation];
	miss->thread = at->thread;
	miss->instruction = at->instruction;
	miss->slot = at->slot;
	miss->kind = at->kind;
	miss->size = traced_size(frame, at);
	miss->address = at->address;
	miss->reference = frame->first_reference + at->reference;
	miss->has_store = false;
}

/* Whether it is a hit of a machine whose hits are simple, which is done with then. */
static inline bool hits(
	const LodeCacheMachine *machine, LodeCacheCore *core, const LodeFilteredReference *at)
{
	LodeCacheCopy *copy = at->kind == LODE_REFERENCE_FETCH ? core->fetches[0] : core->data[0];
	uint64_t line, *entry;

	if (!machine->hits_only_touch || at->parts != LODE_ACCESS_CACHES)
		return false;
	line = at->address >> copy->line_shift;
	if ((at->address + at->extent) >> copy->line_shift != line)
		return false;
	entry = lode_cache_sets_touch_by_age(&copy->sets, line);
	if (entry != NULL &&
		(at->kind == LODE_REFERENCE_STORE || at->kind == LODE_REFERENCE_MODIFY))
		*entry |= LODE_LINE_DIRTY;
	return entry != NULL;
}

void lode_filtered_reference_access(const LodeFilteredReference *self, const LodeTraceFrame *frame,
	LodeCacheMachine *machine, LodeCacheCore *core)
{
	LodeCacheMiss miss;
	Access access = {.first = self->address,
		.last = self->address + self->extent,
		.kind = self->kind,
		.miss = &miss};

	if (machine->has_strides || machine->names_stores)
		access.instruction = instruction_address(frame, self);
	if (machine->on_miss != NULL)
		place_miss(&miss, frame, self);
	look_up(machine, core, &access, self->parts);
}

void lode_line_brought_in(LodeCacheMachine *machine, LodeCacheCore *core,
	const LodeFilteredReference *at, uint64_t victim)
{
	const Access access = {.first = at->address,
		.last = at->address + at->extent,
		.kind = (LodeReferenceKind)at->kind};
	Request request = {machine, core, &access, victim == 0};
	LodeCacheCopy *copy = core->data[0];
	unsigned n_missed;

	if (victim & LODE_LINE_DIRTY)
		write_back(core, copy, lode_line_number(victim));
	copy->counts->cold_misses += request.is_cold;
	copy->counts->misses[at->kind]++;
	n_missed = ask_path(&request, core->data, 1, false);
	if (core->data[n_missed] == NULL)
		ask_followers(&request, false);
	prefetch_on_path(&request, core->data, n_missed);
}

bool lode_filtered_references_replay(const LodeFilteredReference *references, size_t n,
	const LodeTraceFrame *frame, LodeCacheMachine *machine)
{
	LodeCacheCore *core = NULL;
	uint16_t thread = 0;

	for (size_t i = 0; i < n; i++) {
		const LodeFilteredReference *at = &references[i];

		if (core == NULL || at->thread != thread) {
			core = lode_cache_machine_core(machine, at->thread);
			thread = at->thread;
		}
		if (core == NULL)
			return false;
		if (!hits(machine, core, at))
			lode_filtered_reference_access(at, frame, machine, core);
	}
	return true;
}
