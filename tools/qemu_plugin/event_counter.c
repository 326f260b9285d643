/* SPDX-License-Identifier: MIT */
/*
 * QEMU reports what it does to memory in pieces of at most 8 bytes. Pieces of one execution of an
 * instruction that follow each other are one reference: in a block each instruction is executed
 * once, so that they are of one execution while no block begins. The levels do not know of each
 * other, so that it is all the same whether the second line of a reference comes to the first level
 * before or after its first line came to the last one.
 */
#include "event_counter.h"

#include "access_word.h"
#include "instruction_traits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_REFERENCE = 64, /* bytes that are looked up, as callgrind does */
	MAX_LOCKED = 1 << 16,
	USUAL_LINE = 64,
	NO_PAGES = 63, /* all addresses are on page 0 or 1, which count as used last */
};

const char *const event_counter_names[N_EVENTS] = {"Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr",
	"DLmr", "DLmw", "Bc", "Bcm", "Bi", "Bim", "L2im", "L2dm", "DTm", "DT2m"};

static EventCounterOptions options;
static LodeLruCache last_level;
static pthread_mutex_t last_level_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool has_threads;
static uint32_t fetch_shift, page_shift;
static const EventBlock no_block;

static __thread EventThread *current __attribute__((tls_model("initial-exec")));

/*
 * Of `current`: of each set of its data cache the line used last + 1; and the pages that were used
 * since the last miss of the first TLB, each at the place of its low bits with the epoch, the
 * number of misses, in its high bits. Using such a page again can only change the order among them;
 * this is left out, as most uses are of that kind: they count as used in the order of their first
 * use in the epoch. Without a TLB all addresses are on page 0, which is always recent.
 */
typedef struct {
	const uint64_t *lines, *pages;
	uint64_t set_mask, epoch;
} Recent;

#define FIRST_EPOCH (UINT64_C(1) << 40) /* above the numbers of pages */

static __thread Recent recent __attribute__((tls_model("initial-exec")));

/* ---- what QEMU says of an access ---- */

typedef struct {
	unsigned size;
	bool is_store;
} Access;

static bool is_layout_known;

static Access layout_of(qemu_plugin_meminfo_t info)
{
	return (Access){access_word_size(info), access_word_is_store(info)};
}

static inline Access access_of(qemu_plugin_meminfo_t info)
{
	if (__builtin_expect(is_layout_known, 1))
		return layout_of(info);
	return (Access){1u << qemu_plugin_mem_size_shift(info), qemu_plugin_mem_is_store(info)};
}

/* ---- beginning ---- */

bool event_counter_parse_caches(const char *text, EventCounterOptions *wanted)
{
	return lode_lru_shape_parse(&text, &wanted->first_instructions) &&
	       lode_lru_shape_parse(&text, &wanted->first_data) &&
	       lode_lru_shape_parse(&text, &wanted->last) &&
	       (*text == '\0' || (lode_lru_shape_parse(&text, &wanted->second) &&
					 lode_lru_shape_parse(&text, &wanted->pages) &&
					 lode_lru_shape_parse(&text, &wanted->second_pages) &&
					 *text == '\0'));
}

bool event_counter_has(const EventCounterOptions *wanted, EventColumn column)
{
	switch (column) {
	case EVENT_SECOND_FETCH_MISSES:
	case EVENT_SECOND_DATA_MISSES:
		return wanted->second.n_sets != 0;
	case EVENT_PAGE_MISSES:
		return wanted->pages.n_sets != 0;
	case EVENT_SECOND_PAGE_MISSES:
		return wanted->pages.n_sets != 0 && wanted->second_pages.n_sets != 0;
	default:
		return true;
	}
}

static bool init_second(LodeLruCache *self, const LodeLruShape *shape)
{
	*self = (LodeLruCache){0};
	return shape->n_sets == 0 || lode_lru_cache_init(self, shape);
}

static bool init_tlb(EventTlb *self, const LodeLruShape *shape)
{
	*self = (EventTlb){0};
	if (shape->n_sets == 1)
		return lode_full_lru_init(&self->full, shape->n_ways);
	return shape->n_sets == 0 || lode_lru_cache_init(&self->sets, shape);
}

static void clear_tlb(EventTlb *self)
{
	lode_full_lru_clear(&self->full);
	lode_lru_cache_clear(&self->sets);
}

static void unlock_in_child(void)
{
	pthread_mutex_init(&last_level_lock, NULL);
}

bool event_counter_init(const EventCounterOptions *wanted)
{
	LodeLruCache fetches;

	options = *wanted;
	if (!lode_lru_cache_init(&fetches, &options.first_instructions))
		return false;
	fetch_shift = fetches.line_shift;
	page_shift = NO_PAGES;
	if (options.pages.n_sets != 0)
		page_shift = (uint32_t)__builtin_ctz(options.pages.line_bytes);
	is_layout_known = access_word_is_known();
	lode_lru_cache_clear(&fetches);
	return lode_lru_cache_init(&last_level, &options.last) &&
	       pthread_atfork(NULL, NULL, unlock_in_child) == 0;
}

bool event_thread_init(EventThread *self)
{
	self->predictor = lode_branch_predictor_new(options.branches);
	if (self->predictor != NULL)
		self->callgrind = lode_branch_predictor_callgrind(self->predictor);
	if (self->predictor != NULL &&
		lode_lru_cache_init(&self->instructions, &options.first_instructions) &&
		lode_lru_cache_init(&self->data, &options.first_data) &&
		init_second(&self->second, &options.second) &&
		init_tlb(&self->pages, &options.pages) &&
		init_tlb(&self->second_pages, &options.second_pages))
		return true;
	lode_branch_predictor_free(self->predictor);
	lode_lru_cache_clear(&self->instructions);
	lode_lru_cache_clear(&self->data);
	lode_lru_cache_clear(&self->second);
	clear_tlb(&self->pages);
	return false;
}

void event_thread_enter(EventThread *self)
{
	static const uint64_t nothing, only_pages[2] = {FIRST_EPOCH, 1 ^ FIRST_EPOCH};

	current = self;
	recent = (Recent){&nothing, only_pages, 0, FIRST_EPOCH};
	if (self == NULL)
		return;
	recent.lines = self->data.recent;
	recent.set_mask = self->data.set_mask;
	if (page_shift != NO_PAGES)
		recent.pages = self->recent_pages;
	memset(self->recent_pages, 0, sizeof(self->recent_pages));
	self->block = &no_block;
	self->row = NULL;
}

void event_counter_expect_threads(void)
{
	atomic_store(&has_threads, true);
}

static uint64_t *row_of(const EventThread *self, size_t instruction)
{
	return self->rows + instruction * N_EVENTS;
}

/* ---- what misses the first level ---- */

static bool refer_last(uint64_t address, uint64_t size)
{
	bool is_shared = atomic_load_explicit(&has_threads, memory_order_relaxed);

	if (is_shared)
		pthread_mutex_lock(&last_level_lock);
	bool is_held = lode_lru_cache_refer(&last_level, address, size);
	if (is_shared)
		pthread_mutex_unlock(&last_level_lock);
	return is_held;
}

/* Whether the thread's second level held it; where there is none, nothing is. */
static bool refer_second(EventThread *self, uint64_t address, uint64_t size)
{
	return self->second.recent != NULL && lode_lru_cache_refer(&self->second, address, size);
}

static void miss_fetch(EventThread *self, uint32_t instruction, uint64_t address, uint64_t size)
{
	uint64_t *row = row_of(self, instruction);

	row[EVENT_FETCH_MISSES]++;
	if (refer_second(self, address, size))
		return;
	row[EVENT_SECOND_FETCH_MISSES]++;
	row[EVENT_LAST_FETCH_MISSES] += !refer_last(address, size);
}

/* From `line` on, before which all lines of the block were used last in their sets. The first
 * instruction that touches it may begin on the line before. */
void event_thread_fetch(EventThread *self, const EventBlock *block, uint64_t line)
{
	uint64_t address = block->address;
	uint64_t end = block->first_line + block->n_lines;

	while (line < end && lode_lru_cache_use_held(&self->instructions, line))
		line++;
	if (line == end)
		return;
	if (block->n_lines == 1) {
		miss_fetch(self, block->first_instruction, address, 1);
		lode_lru_cache_use(&self->instructions, line);
		return;
	}
	uint64_t start = line << fetch_shift;

	for (uint32_t i = 0; i < block->end_instruction - block->first_instruction;
		address += block->sizes[i++]) {
		if (address + block->sizes[i] <= start ||
			lode_lru_cache_refer(&self->instructions, address, block->sizes[i]))
			continue;
		miss_fetch(self, block->first_instruction + i, address, block->sizes[i]);
	}
}

/* ---- branches ---- */

void event_thread_predict(EventThread *self, uint64_t next)
{
	const EventBlock *block = self->block;
	uint64_t address = block->end - block->last_size;
	bool is_wrong = false;

	if (block->branch == EVENT_BRANCH_INDIRECT)
		is_wrong = lode_branch_predictor_indirect(self->predictor, address, next);
	else if (next == block->end || next == block->branch_target)
		is_wrong = lode_branch_predictor_conditional(
			self->predictor, address, next != block->end);
	if (is_wrong)
		event_thread_count_wrong(self);
}

/* ---- accesses ---- */

static inline bool is_recent_page(uint64_t page)
{
	return recent.pages[page % EVENT_RECENT_PAGES] == (page ^ recent.epoch);
}

static inline bool is_on_recent_page(uint64_t address)
{
	return is_recent_page(address >> page_shift);
}

/* Sets of the further levels are many, and waiting for them one after the other took longer than
 * all else. Data not used lately is likely to be in none of them. */
static void prefetch_further(const EventThread *self, uint64_t address)
{
	if (is_on_recent_page(address))
		return;
	lode_lru_cache_prefetch(&last_level, address);
	if (self->second.recent != NULL)
		lode_lru_cache_prefetch(&self->second, address);
	if (self->second_pages.sets.recent != NULL)
		lode_lru_cache_prefetch(&self->second_pages.sets, address);
}

static bool use_page(EventTlb *self, uint64_t page)
{
	return self->full.entries != NULL ? lode_full_lru_use(&self->full, page)
	                                  : lode_lru_cache_use(&self->sets, page);
}

/* Whether all were held. */
static bool use_all_pages(EventTlb *self, uint64_t page, uint64_t last)
{
	bool is_held = use_page(self, page);

	while (page < last)
		is_held &= use_page(self, ++page);
	return is_held;
}

static void begin_epoch(EventThread *self)
{
	recent.epoch += FIRST_EPOCH;
	if (recent.epoch != 0)
		return;
	recent.epoch = FIRST_EPOCH;
	memset(self->recent_pages, 0, sizeof(self->recent_pages));
}

/* The pages of a piece of the reference that begins at `start`. The second TLB gets all of what the
 * first one missed. */
static void use_pages(
	EventThread *self, uint64_t *row, uint64_t start, uint64_t address, uint64_t size)
{
	uint64_t page = address >> page_shift, last = (address + size - 1) >> page_shift;
	bool was_missed = self->is_page_missed;

	if (page_shift == NO_PAGES || (is_recent_page(page) && is_recent_page(last)))
		return;
	bool is_held = use_all_pages(&self->pages, page, last);
	if (!is_held)
		begin_epoch(self);
	self->recent_pages[page % EVENT_RECENT_PAGES] = page ^ recent.epoch;
	self->recent_pages[last % EVENT_RECENT_PAGES] = last ^ recent.epoch;
	if (is_held && !was_missed)
		return;
	self->is_page_missed = true;
	row[EVENT_PAGE_MISSES] += !was_missed;
	if (!was_missed)
		page = start >> page_shift;
	if (options.second_pages.n_sets == 0 || use_all_pages(&self->second_pages, page, last))
		return;
	row[EVENT_SECOND_PAGE_MISSES] += !self->is_second_page_missed;
	self->is_second_page_missed = true;
}

__attribute__((noinline)) static void look_up(
	EventThread *self, uint64_t *row, uint64_t address, uint64_t size)
{
	bool is_held = lode_lru_cache_refer(&self->data, address, size);
	if (!is_held)
		prefetch_further(self, address);
	use_pages(self, row, address, address, size);
	if (is_held)
		return;
	self->is_missed = true;
	row[EVENT_READ_MISSES + self->is_store]++;
	self->is_second_missed = !refer_second(self, address, size);
	if (!self->is_second_missed)
		return;
	row[EVENT_SECOND_DATA_MISSES]++;
	self->is_last_missed = !refer_last(address, size);
	row[EVENT_LAST_READ_MISSES + self->is_store] += self->is_last_missed;
}

static void refer(EventThread *self, uint64_t *row, uint64_t address, Access access)
{
	uint64_t line = address >> self->data.line_shift;

	row[EVENT_READS + access.is_store]++;
	self->row = row;
	self->start = address;
	self->end = address + access.size;
	self->is_store = access.is_store;
	self->is_modified = self->is_missed = self->is_second_missed = self->is_last_missed = false;
	self->is_page_missed = self->is_second_page_missed = false;
	if (__builtin_expect(!lode_lru_cache_is_last(&self->data, line) ||
				     !is_on_recent_page(address) ||
				     (self->end - 1) >> self->data.line_shift != line,
		    0))
		look_up(self, row, address, access.size);
}

/* A further piece of the reference, in a line of its own. */
static void extend_to_line(EventThread *self, uint64_t *row, uint64_t address)
{
	bool is_held = lode_lru_cache_use(&self->data, address >> self->data.line_shift);
	bool was_missed = self->is_missed;

	use_pages(self, row, self->start, address, 1);
	if (is_held && !was_missed)
		return;
	row[EVENT_READ_MISSES + self->is_store] += !was_missed;
	self->is_missed = true;
	/* A further level looks up all of it, and has done so with the first line if that missed.
	 */
	uint64_t from = was_missed ? address : self->start;
	bool was_second_missed = self->is_second_missed;
	if (refer_second(self, from, address - from + 1) && !was_second_missed)
		return;
	row[EVENT_SECOND_DATA_MISSES] += !was_second_missed;
	self->is_second_missed = true;
	from = was_second_missed ? address : self->start;
	bool is_last_held = refer_last(from, address - from + 1);
	row[EVENT_LAST_READ_MISSES + self->is_store] += !is_last_held && !self->is_last_missed;
	self->is_last_missed |= !is_last_held;
}

/* It writes the location that it has read: one reference. */
static void count_as_write(EventThread *self, uint64_t *row)
{
	self->is_modified = self->is_store = true;
	row[EVENT_READS]--;
	row[EVENT_WRITES]++;
	row[EVENT_READ_MISSES] -= self->is_missed;
	row[EVENT_WRITE_MISSES] += self->is_missed;
	row[EVENT_LAST_READ_MISSES] -= self->is_last_missed;
	row[EVENT_LAST_WRITE_MISSES] += self->is_last_missed;
}

__attribute__((noinline)) static void refer_again(
	EventThread *self, uint64_t *row, uint64_t address, Access access)
{
	if (access.is_store && !self->is_store && address == self->start) {
		count_as_write(self, row);
		return;
	}
	if (access.is_store && self->is_modified && address + access.size <= self->end)
		return;
	if (access.is_store != self->is_store || address != self->end) {
		refer(self, row, address, access);
		return;
	}
	self->end += access.size;
	uint64_t last = (self->end - 1) >> self->data.line_shift;
	if (last != (address - 1) >> self->data.line_shift && address - self->start < MAX_REFERENCE)
		extend_to_line(self, row, last << self->data.line_shift);
}

__attribute__((noinline)) static void access_slowly(
	EventThread *self, uint64_t *row, uint64_t address, qemu_plugin_meminfo_t info)
{
	if (self == NULL)
		return;
	if (self->row == row)
		refer_again(self, row, address, access_of(info));
	else
		refer(self, row, address, access_of(info));
}

/* A further piece of what was referred to, in the same line. */
static inline bool is_in_line(const EventThread *self, uint64_t address, Access access)
{
	uint64_t last = address + access.size - 1;

	return address == self->end && access.is_store == self->is_store &&
	       last >> self->data.line_shift == (address - 1) >> self->data.line_shift;
}

/* Most accesses are the first one of their instruction, to the line that was used last in its set,
 * or go on in it: these need no call. */
static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	EventThread *self = current;
	Access access = layout_of(info);

	(void)vcpu;
	if (__builtin_expect(self == NULL, 0)) {
		access_slowly(NULL, NULL, 0, 0);
		return;
	}
	uint64_t *row = self->rows + (uintptr_t)user_data;
	uint64_t end = address + access.size, line = address >> self->data.line_shift;
	if (self->row == row && is_in_line(self, address, access) && is_layout_known) {
		self->end = end;
		return;
	}
	if (__builtin_expect(self->row == row || !lode_lru_cache_is_last(&self->data, line) ||
				     !is_on_recent_page(address) ||
				     (end - 1) >> self->data.line_shift != line || !is_layout_known,
		    0)) {
		access_slowly(self, row, address, info);
		return;
	}
	row[EVENT_READS + access.is_store]++;
	self->row = row;
	self->start = address;
	self->end = end;
	self->is_store = access.is_store;
	self->is_modified = self->is_missed = self->is_second_missed = self->is_last_missed = false;
	self->is_page_missed = self->is_second_page_missed = false;
}

/* ---- the one reference of an instruction ---- */

__attribute__((noinline)) static void look_up_only(
	uint64_t address, qemu_plugin_meminfo_t info, void *user_data)
{
	EventThread *self = current;
	Access access = access_of(info);

	if (self == NULL)
		return;
	uint64_t *row = self->rows + (uintptr_t)user_data;
	bool is_held = lode_lru_cache_refer(&self->data, address, access.size);
	if (!is_held)
		prefetch_further(self, address);
	self->is_page_missed = self->is_second_page_missed = false;
	use_pages(self, row, address, address, access.size);
	if (is_held)
		return;
	row[EVENT_READ_MISSES + access.is_store]++;
	if (refer_second(self, address, access.size))
		return;
	row[EVENT_SECOND_DATA_MISSES]++;
	row[EVENT_LAST_READ_MISSES + access.is_store] += !refer_last(address, access.size);
}

static void on_only(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	(void)vcpu;
	look_up_only(address, info, user_data);
}

/* A location that is read and then written is one reference, a write. */
static void on_modified(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	(void)vcpu;
	if (access_of(info).is_store)
		look_up_only(address, info, user_data);
}

/* The same of lines of 64 bytes, where the layout is known. */
static inline void check_only_64(uint64_t address, qemu_plugin_meminfo_t info, void *user_data)
{
	uint64_t line = address / USUAL_LINE, last = address + layout_of(info).size - 1;

	if (__builtin_expect(recent.lines[line & recent.set_mask] != line + 1 ||
				     !is_on_recent_page(address) || last / USUAL_LINE != line,
		    0))
		look_up_only(address, info, user_data);
}

static void on_only_64(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	(void)vcpu;
	check_only_64(address, info, user_data);
}

static void on_modified_64(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	(void)vcpu;
	if (layout_of(info).is_store)
		check_only_64(address, info, user_data);
}

/* ---- atomic accesses ---- */

typedef struct {
	uint64_t address;
	uint32_t instruction;
	bool compares; /* cmpxchg */
} LockedInstruction;

/*
 * As valgrind translates them: a read, and a write that is tried again when memory has changed
 * meanwhile, which is a branch that is never taken; cmpxchg is a write. QEMU reports a load and a
 * store, or in a program with threads a store alone.
 */
static void on_locked_access(
	unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *user_data)
{
	const LockedInstruction *locked = user_data;
	EventThread *self = current;
	Access access = access_of(info);

	(void)vcpu;
	if (self == NULL)
		return;
	uint64_t *row = row_of(self, locked->instruction);
	bool is_again = self->row == row && self->is_store == access.is_store;
	bool was_read = self->row == row && !self->is_store;
	if (is_again) {
		refer_again(self, row, address, access);
		return;
	}
	if (access.is_store && !was_read && !locked->compares)
		refer(self, row, address, (Access){access.size, false});
	if (access.is_store || !locked->compares)
		refer(self, row, address, access);
	if (!access.is_store || locked->compares || options.branches != LODE_BRANCHES_CALLGRIND)
		return;
	row[EVENT_CONDITIONAL]++;
	row[EVENT_CONDITIONAL_WRONG] += lode_branch_predictor_conditional(
		self->predictor, locked->address, false);
}

/* ---- translation ---- */

static LockedInstruction *new_locked(
	uint64_t address, uint32_t instruction, const InstructionTraits *traits)
{
	static LockedInstruction all[MAX_LOCKED]; /* translated under QEMU's lock, one at a time */
	static atomic_uint n;
	unsigned number = atomic_fetch_add(&n, 1);

	if (number >= MAX_LOCKED)
		return NULL;
	all[number] = (LockedInstruction){address, instruction, traits->compares_and_exchanges};
	return &all[number];
}

static qemu_plugin_vcpu_mem_cb_t access_call(MemoryUse use)
{
	bool is_usual = is_layout_known && options.first_data.line_bytes == USUAL_LINE;

	if (use == MEMORY_OTHER)
		return on_access;
	if (use == MEMORY_MODIFY)
		return is_usual ? on_modified_64 : on_modified;
	return is_usual ? on_only_64 : on_only;
}

static void add_call(
	struct qemu_plugin_insn *instruction, uint32_t number, const InstructionTraits *traits)
{
	LockedInstruction *locked = traits->is_locked
	                                    ? new_locked(qemu_plugin_insn_vaddr(instruction),
						      number, traits)
	                                    : NULL;

	if (locked != NULL)
		qemu_plugin_register_vcpu_mem_cb(instruction, on_locked_access,
			QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, locked);
	else
		/* QEMU 7.2 does not distinguish read-only from write-only accesses. */
		qemu_plugin_register_vcpu_mem_cb(instruction, access_call(traits->memory),
			QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
			(void *)((uintptr_t)number * N_EVENTS));
}

static void set_branch(EventBlock *self, const InstructionTraits *traits)
{
	if (traits->is_conditional) {
		self->branch = EVENT_BRANCH_CONDITIONAL;
		self->branch_target = self->end + (uint64_t)(int64_t)traits->displacement;
	} else if (traits->is_indirect) {
		self->branch = EVENT_BRANCH_INDIRECT;
	} else if (traits->is_repeated && options.branches == LODE_BRANCHES_CALLGRIND) {
		self->branch = EVENT_BRANCH_CONDITIONAL;
		self->branch_target = self->end - self->last_size;
	}
}

void event_block_init(EventBlock *self, struct qemu_plugin_tb *piece, uint32_t number,
	uint32_t first_instruction, const uint8_t *sizes)
{
	size_t n = qemu_plugin_tb_n_insns(piece);
	uint64_t address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(piece, 0));
	InstructionTraits traits = {0};

	*self = (EventBlock){
		.address = address,
		.end = address,
		.sizes = sizes,
		.number = number,
		.first_instruction = first_instruction,
		.end_instruction = first_instruction + (uint32_t)n,
		.last_size = sizes[n - 1],
	};
	for (uint32_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(piece, i);
		traits = instruction_traits(qemu_plugin_insn_data(instruction), sizes[i]);
		if (traits.may_access && traits.memory == MEMORY_OTHER && i < 32)
			self->accesses |= UINT32_C(1) << i;
		self->end += sizes[i];
	}
	set_branch(self, &traits);
	self->first_line = address >> fetch_shift;
	self->n_lines = (uint8_t)(((self->end - 1) >> fetch_shift) - self->first_line + 1);
}

void event_block_add_calls(const EventBlock *self, struct qemu_plugin_tb *piece)
{
	uint32_t n = self->end_instruction - self->first_instruction;

	for (uint32_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(piece, i);
		InstructionTraits traits = instruction_traits(
			qemu_plugin_insn_data(instruction), self->sizes[i]);
		add_call(instruction, self->first_instruction + i, &traits);
	}
}

size_t event_block_fixed(
	const EventBlock *self, struct qemu_plugin_tb *piece, CountFixedEvent *out_events)
{
	uint32_t n_instructions = self->end_instruction - self->first_instruction;
	size_t n = 0;

	for (uint32_t i = 0; i < n_instructions; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(piece, i);
		InstructionTraits traits = instruction_traits(
			qemu_plugin_insn_data(instruction), self->sizes[i]);
		if (traits.memory != MEMORY_OTHER)
			out_events[n++] = (CountFixedEvent){(uint16_t)i,
				traits.memory == MEMORY_LOAD ? EVENT_READS : EVENT_WRITES, 1};
	}
	if (self->branch != EVENT_BRANCH_NONE)
		out_events[n++] = (CountFixedEvent){(uint16_t)(n_instructions - 1),
			self->branch == EVENT_BRANCH_INDIRECT ? EVENT_INDIRECT : EVENT_CONDITIONAL,
			1};
	return n;
}
