/* SPDX-License-Identifier: MIT */
/*
 * From frames to uses of lines. The part of a block that is the same in all its invocations is
 * computed once: the lines that its fetches use between two data references, and how often these
 * are the line that was used just before.
 */
#include "caches/stacks/stack_distances.h"

#include "base/arrays/hash.h"
#include "base/bits.h"
#include "base/error.h"
#include "caches/stacks/recency_tree.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* --- near lines --- */

/*
 * The most recently used lines, by age: what most references of a program find. Nothing moves when
 * the order changes, and no branch depends on it:
 *
 *   place   0     1     2     3          age: how many lines were used since
 *   line    a     b     c     d
 *   age     2     0     3     1    ── use c ──▶  3  1  0  2
 *
 * A small table by a line's hash says where it may be; a line that another one pushed out of that
 * table is here all the same, and the caller's own table must know its place.
 */

enum {
	NEAR_LINES = 32,
	NEAR_LANES = 16,
	NEAR_TABLE_SHIFT = 54, /* leaves 10 bits of a hash */
};

typedef int8_t LodeNearAges __attribute__((vector_size(NEAR_LANES)));

typedef struct {
	LodeNearAges ages[NEAR_LINES / NEAR_LANES];
	uint64_t lines[NEAR_LINES];
	uint8_t table[1 << (64 - NEAR_TABLE_SHIFT)]; /* places */
	unsigned n;
} NearLines;

/* A line number that no line has. */
#define NO_LINE UINT64_MAX

static inline void near_lines_init(NearLines *self)
{
	memset(self, 0, sizeof(*self));
	memset(self->ages, INT8_MAX, sizeof(self->ages));
	for (unsigned i = 0; i < NEAR_LINES; i++)
		self->lines[i] = NO_LINE;
}

static inline uint64_t near_lines_hash(uint64_t line)
{
	return lode_hash_slot(line, 64);
}

static inline bool near_lines_find(
	const NearLines *self, uint64_t line, uint64_t hash, unsigned *out_place)
{
	*out_place = self->table[hash >> NEAR_TABLE_SHIFT];
	return self->lines[*out_place] == line;
}

/* Makes the line at a place the most recent one and gives the age that it had. */
static inline unsigned near_lines_use(NearLines *self, unsigned place)
{
	static const LodeNearAges lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	int8_t age = ((const int8_t *)self->ages)[place];

	for (unsigned i = 0; i < NEAR_LINES / NEAR_LANES; i++) {
		int8_t lane = (int8_t)(place - i * NEAR_LANES);
		LodeNearAges ages = self->ages[i];

		ages -= ages < age; /* true is −1 */
		self->ages[i] = ages & ~(lanes == lane);
	}
	return (unsigned)age;
}

/* Whether a line must leave before another one comes. */
static inline bool near_lines_is_full(const NearLines *self)
{
	return self->n == NEAR_LINES;
}

/* The place of the line that was used longest ago. Must be full. */
static inline unsigned near_lines_oldest(const NearLines *self)
{
	const int8_t *ages = (const int8_t *)self->ages;
	const int8_t *oldest = memchr(ages, NEAR_LINES - 1, NEAR_LINES);

	return (unsigned)(oldest - ages);
}

/* Puts a line at a place, the first free one or that of the oldest, and makes it the most recent
 * one. */
static inline void near_lines_put(NearLines *self, unsigned place, uint64_t line, uint64_t hash)
{
	self->lines[place] = line;
	self->table[hash >> NEAR_TABLE_SHIFT] = (uint8_t)place;
	near_lines_use(self, place);
}

/* --- stack distances --- */

/*
 * Lines by how recently they were used, as a stack: a line is used, and its depth is given.
 *
 *   depth 0 …          31 │ 32 …
 *   near lines, by age    │ a recency tree: each line marks the moment at which it left the
 *                         │ near ones; its depth is 32 + the marks after its own
 *
 * A table knows of each line where it is. Memory grows with the number of lines: at most 70 bytes
 * each.
 */
typedef struct {
	NearLines near;
	uint32_t near_slots[NEAR_LINES]; /* of the table */
	LodeRecencyTree tree;
	uint32_t *slots;       /* × the tree's capacity: which line marked the moment */
	uint64_t *table_lines; /* open addressing */
	uint32_t *table_where; /* beside it */
	unsigned table_shift;  /* a hash >> this is where to begin */
	uint32_t table_mask;
	uint32_t n_lines;    /* = uses that found no line */
	uint64_t *histogram; /* × room: how many uses found the line at this depth */
	size_t room;
} LineStack;

enum {
	FIRST_TABLE_BITS = 12,
	HASH_BITS = 64,
};

/* Where a line is: free, near (and its place), or the moment that it marked. */
#define FREE UINT32_MAX
#define NEAR UINT32_C(0x80000000)

static void new_table(LineStack *self, unsigned bits)
{
	size_t size = (size_t)1 << bits;

	self->table_lines = g_new(uint64_t, size);
	self->table_where = g_new(uint32_t, size);
	memset(self->table_where, UINT8_MAX, size * sizeof(uint32_t));
	self->table_shift = HASH_BITS - bits;
	self->table_mask = (uint32_t)(size - 1);
}

static void line_stack_init(LineStack *self)
{
	memset(self, 0, sizeof(*self));
	near_lines_init(&self->near);
	lode_recency_tree_init(&self->tree, LODE_RECENCY_MIN_CAPACITY);
	self->slots = g_new(uint32_t, self->tree.capacity);
	new_table(self, FIRST_TABLE_BITS);
	self->room = self->table_mask + 1;
	self->histogram = g_new0(uint64_t, self->room);
}

static void line_stack_clear(LineStack *self)
{
	lode_recency_tree_clear(&self->tree);
	g_clear_pointer(&self->slots, g_free);
	g_clear_pointer(&self->table_lines, g_free);
	g_clear_pointer(&self->table_where, g_free);
	g_clear_pointer(&self->histogram, g_free);
}

/* The slot that a line has, or the free one that it would get. */
static uint32_t find_slot(const LineStack *self, uint64_t line, uint64_t hash)
{
	uint32_t slot = (uint32_t)(hash >> self->table_shift);

	while (self->table_where[slot] != FREE && self->table_lines[slot] != line)
		slot = (slot + 1) & self->table_mask;
	return slot;
}

/* Lines change their slots: tell those who know them by these. */
static void grow_table(LineStack *self)
{
	uint64_t *lines = self->table_lines;
	uint32_t *where = self->table_where;
	uint32_t size = self->table_mask + 1;

	new_table(self, HASH_BITS - self->table_shift + 1);
	for (uint32_t i = 0; i < size; i++) {
		if (where[i] == FREE)
			continue;
		uint32_t slot = find_slot(self, lines[i], near_lines_hash(lines[i]));
		self->table_lines[slot] = lines[i];
		self->table_where[slot] = where[i];
		if ((where[i] & NEAR) != 0)
			self->near_slots[where[i] & ~NEAR] = slot;
		else
			self->slots[where[i]] = slot;
	}
	g_free(lines);
	g_free(where);
	self->histogram = g_renew(uint64_t, self->histogram, self->table_mask + 1);
	memset(&self->histogram[self->room], 0,
		(self->table_mask + 1 - self->room) * sizeof(uint64_t));
	self->room = self->table_mask + 1;
}

/* Another tree, in which the marked moments of this one are the first. */
static void renumber_moments(LineStack *self)
{
	LodeRecencyTree old = self->tree;
	uint32_t *old_slots = self->slots;
	uint32_t capacity = LODE_RECENCY_MIN_CAPACITY;

	while (capacity < 2 * old.n_marked)
		capacity *= 2;
	lode_recency_tree_init(&self->tree, capacity);
	self->slots = g_new(uint32_t, capacity);
	for (uint32_t i = 0; i < old.now; i += HASH_BITS) {
		for (uint64_t word = old.words[i / HASH_BITS]; word != 0; word &= word - 1) {
			uint32_t slot = old_slots[i + (uint32_t)__builtin_ctzll(word)];
			uint32_t moment = lode_recency_tree_mark(&self->tree);

			self->slots[moment] = slot;
			self->table_where[slot] = moment;
		}
	}
	lode_recency_tree_clear(&old);
	g_free(old_slots);
}

/* The place for another near line; the oldest one goes to the tree. */
static unsigned free_place(LineStack *self)
{
	if (!near_lines_is_full(&self->near))
		return self->near.n++;
	unsigned place = near_lines_oldest(&self->near);
	uint32_t slot = self->near_slots[place];
	if (lode_recency_tree_is_full(&self->tree))
		renumber_moments(self);
	uint32_t moment = lode_recency_tree_mark(&self->tree);
	self->slots[moment] = slot;
	self->table_where[slot] = moment;
	return place;
}

static void put_near(LineStack *self, uint32_t slot, uint64_t line, uint64_t hash)
{
	unsigned place = free_place(self);

	self->near_slots[place] = slot;
	self->table_where[slot] = NEAR | place;
	near_lines_put(&self->near, place, line, hash);
}

static void add_line(LineStack *self, uint64_t line, uint64_t hash)
{
	self->n_lines++;
	if (self->n_lines > self->table_mask / 4 * 3)
		grow_table(self);
	uint32_t slot = find_slot(self, line, hash);
	self->table_lines[slot] = line;
	put_near(self, slot, line, hash);
}

/* Uses a line that is not where line_stack_use() looks first. */
static void line_stack_use_far(LineStack *self, uint64_t line, uint64_t hash)
{
	uint32_t slot = find_slot(self, line, hash);
	uint32_t where = self->table_where[slot];

	if (where == FREE) {
		add_line(self, line, hash);
	} else if ((where & NEAR) != 0) {
		unsigned place = where & ~NEAR;

		self->near.table[hash >> NEAR_TABLE_SHIFT] = (uint8_t)place;
		self->histogram[near_lines_use(&self->near, place)]++;
	} else {
		uint32_t after = lode_recency_tree_count_after(&self->tree, where);

		self->histogram[NEAR_LINES + after]++;
		lode_recency_tree_unmark(&self->tree, where);
		put_near(self, slot, line, hash);
	}
}

/* Uses a line: counts the depth at which it was and puts it on top. The caller keeps the number of
 * lines below the limit. */
static inline void line_stack_use(LineStack *self, uint64_t line)
{
	uint64_t hash = near_lines_hash(line);
	unsigned place;

	if (near_lines_find(&self->near, line, hash, &place))
		self->histogram[near_lines_use(&self->near, place)]++;
	else
		line_stack_use_far(self, line, hash);
}

/* A part of a block. Fetches without a data reference between them use `n_lines` lines from `line`
 * on, one after the other; or a data reference, when there are none. */
typedef struct {
	uint64_t line;
	uint32_t n_lines;
	uint32_t size; /* of fetches: uses of a line that was just used; of data: bytes − 1 */
} Step;

/* The counts of a thread. */
typedef struct {
	uint64_t *histogram; /* of the one that runs, the stack's */
	size_t room;
	uint64_t n_accesses, n_first;
} Part;

struct LodeStackDistances {
	LineStack stack;
	LodeStackDistancesOptions options;
	unsigned line_shift;
	uint32_t max_lines;
	uint64_t line_mask; /* of line numbers: addresses wrap around */
	uint64_t n_accesses;
	LodeBlockDictionary *dictionary; /* that the steps are of */
	GArray *steps;                   /* Step */
	GArray *starts;                  /* uint32_t: the first step of each block, and the end */

	/* By thread. */
	GArray *parts;   /* Part, by thread; NULL: not so */
	unsigned thread; /* that runs */
	Part since;      /* the numbers when it began to */
	size_t n_counts; /* Σ rooms */
	uint64_t *sum;   /* of all histograms */
	bool has_too_many;
};

LodeStackDistances *lode_stack_distances_new(const LodeStackDistancesOptions *options)
{
	LodeStackDistances *self = g_new0(LodeStackDistances, 1);

	g_assert(options->line_bytes >= LODE_STACK_DISTANCES_MIN_LINE &&
		 options->line_bytes <= LODE_STACK_DISTANCES_MAX_LINE &&
		 (options->line_bytes & (options->line_bytes - 1)) == 0);
	self->line_shift = (unsigned)__builtin_ctz(options->line_bytes);
	self->line_mask = UINT64_MAX >> self->line_shift;
	self->options = *options;
	self->max_lines = options->max_lines > 0 ? options->max_lines
	                                         : LODE_STACK_DISTANCES_MAX_LINES;
	line_stack_init(&self->stack);
	self->steps = g_array_new(FALSE, FALSE, sizeof(Step));
	self->starts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (options->by_thread)
		self->parts = g_array_new(FALSE, TRUE, sizeof(Part));
	return self;
}

static Part *part_at(const LodeStackDistances *self, unsigned thread)
{
	return &g_array_index(self->parts, Part, thread);
}

/* Adds the counts so far to the thread that runs. */
static void settle(LodeStackDistances *self)
{
	if (self->parts == NULL || self->parts->len <= self->thread)
		return;
	Part *part = part_at(self, self->thread);
	part->n_accesses += self->n_accesses - self->since.n_accesses;
	part->n_first += self->stack.n_lines - self->since.n_first;
	self->n_counts += self->stack.room - part->room;
	part->histogram = self->stack.histogram;
	part->room = self->stack.room;
	self->since = (Part){.n_accesses = self->n_accesses, .n_first = self->stack.n_lines};
}

/* The stack counts for another thread, into its histogram. */
static void run_thread(LodeStackDistances *self, unsigned thread)
{
	bool is_first = self->parts->len == 0;

	if (!is_first && thread == self->thread)
		return;
	settle(self);
	if (self->parts->len <= thread)
		g_array_set_size(self->parts, thread + 1);
	self->thread = thread;
	Part *part = part_at(self, thread);
	size_t more = self->stack.room - part->room;
	self->has_too_many |= self->n_counts + more > LODE_STACK_DISTANCES_MAX_COUNTS;
	if (is_first || self->has_too_many)
		return;
	part->histogram = g_renew(uint64_t, part->histogram, self->stack.room);
	memset(part->histogram + part->room, 0, more * sizeof(uint64_t));
	self->n_counts += more;
	part->room = self->stack.room;
	self->stack.histogram = part->histogram;
}

void lode_stack_distances_free(LodeStackDistances *self)
{
	if (self == NULL)
		return;
	/* The stack has that of the thread that runs. */
	for (guint i = 0; self->parts != NULL && i < self->parts->len; i++)
		if (i != self->thread)
			g_free(part_at(self, i)->histogram);
	g_clear_pointer(&self->parts, g_array_unref);
	g_free(self->sum);
	line_stack_clear(&self->stack);
	lode_block_dictionary_unref(self->dictionary);
	g_array_unref(self->steps);
	g_array_unref(self->starts);
	g_free(self);
}

/* How many lines beyond its first a reference uses; `last` is its size − 1. */
static inline uint32_t lines_beyond(const LodeStackDistances *self, uint64_t address, uint32_t last)
{
	uint64_t in_line = address & (LODE_BIT(self->line_shift) - 1);

	return (uint32_t)((in_line + last) >> self->line_shift);
}

static uint32_t last_byte(uint32_t size)
{
	return size > 0 ? size - 1 : 0;
}

/* An instruction's fetch goes on where the one before ended, in its last line or the next. */
static void add_fetch(LodeStackDistances *self, Step *step, uint64_t address, uint32_t size)
{
	uint64_t first = address >> self->line_shift;
	uint32_t n = lines_beyond(self, address, last_byte(size)) + 1;

	if (step->n_lines == 0) {
		*step = (Step){.line = first, .n_lines = n};
	} else if (((step->line + step->n_lines - 1) & self->line_mask) == first) {
		step->n_lines += n - 1;
		step->size++;
	} else {
		step->n_lines += n;
	}
}

static void end_step(LodeStackDistances *self, Step *step)
{
	if (step->n_lines > 0)
		g_array_append_vals(self->steps, step, 1);
	*step = (Step){0};
}

static bool has_size(uint32_t size, GError **error)
{
	if (size <= LODE_STACK_DISTANCES_MAX_REFERENCE)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"a reference of %u bytes: stack distances are for at most %d", size,
		LODE_STACK_DISTANCES_MAX_REFERENCE);
	return false;
}

static bool add_slots(LodeStackDistances *self, const LodeTraceBlock *block, unsigned instruction,
	unsigned *slot, Step *fetches, GError **error)
{
	for (; *slot < block->n_slots && block->slots[*slot].instruction == instruction; ++*slot) {
		Step step = {.size = last_byte(block->slots[*slot].size)};

		if (!has_size(block->slots[*slot].size, error))
			return false;
		end_step(self, fetches);
		g_array_append_val(self->steps, step);
	}
	return true;
}

static bool plan_block(LodeStackDistances *self, const LodeTraceBlock *block, GError **error)
{
	const bool has_fetches = (self->options.holds & LODE_CACHE_INSTRUCTIONS) != 0;
	const bool has_data = (self->options.holds & LODE_CACHE_DATA) != 0;
	uint64_t address = block->address;
	unsigned slot = 0;
	Step fetches = {0};

	for (unsigned i = 0; i < MAX(block->n_instructions, 1); i++) {
		uint32_t size = i < block->n_instructions ? block->instruction_sizes[i] : 0;

		if (!has_size(size, error))
			return false;
		if (has_fetches && i < block->n_instructions)
			add_fetch(self, &fetches, address, size);
		address += size;
		if (has_data && !add_slots(self, block, i, &slot, &fetches, error))
			return false;
	}
	end_step(self, &fetches);
	return true;
}

/* The steps of the blocks that are new. */
static bool plan_blocks(LodeStackDistances *self, const LodeTraceFrame *frame, GError **error)
{
	if (self->dictionary != frame->dictionary) {
		lode_block_dictionary_unref(self->dictionary);
		self->dictionary = lode_block_dictionary_ref(frame->dictionary);
		g_array_set_size(self->steps, 0);
		g_array_set_size(self->starts, 0);
	}
	if (self->starts->len == 0) {
		g_array_set_size(self->starts, 1);
		g_array_index(self->starts, uint32_t, 0) = 0;
	}
	for (uint32_t id = self->starts->len - 1; id < frame->n_blocks; id++) {
		if (!plan_block(self, lode_block_dictionary_at(frame->dictionary, id), error))
			return false;
		uint32_t end = self->steps->len;
		g_array_append_val(self->starts, end);
	}
	return true;
}

/* One invocation may pass the limit by what its data references and fetches use once each. */
static inline bool is_full(const LodeStackDistances *self)
{
	return self->stack.n_lines > self->max_lines;
}

static void use_lines(LodeStackDistances *self, uint64_t line, uint32_t n)
{
	for (uint32_t i = 0; i < n && !is_full(self); i++)
		line_stack_use(&self->stack, (line + i) & self->line_mask);
	self->n_accesses += n;
}

static inline void use_data(LodeStackDistances *self, uint64_t address, uint32_t last)
{
	uint32_t beyond = lines_beyond(self, address, last);

	if (beyond == 0) {
		line_stack_use(&self->stack, address >> self->line_shift);
		self->n_accesses++;
	} else {
		use_lines(self, address >> self->line_shift, beyond + 1);
	}
}

static void use_fetches(LodeStackDistances *self, const Step *step)
{
	use_lines(self, step->line, step->n_lines);
	self->stack.histogram[0] += step->size;
	self->n_accesses += step->size;
}

/* Gives the addresses after those of the invocation. */
static const uint64_t *replay_block(
	LodeStackDistances *self, uint32_t block, unsigned n_slots, const uint64_t *addresses)
{
	const Step *steps = (const Step *)(void *)self->steps->data;
	const uint32_t *starts = (const uint32_t *)(void *)self->starts->data;
	const uint64_t *end = addresses + n_slots;

	for (uint32_t i = starts[block]; i < starts[block + 1]; i++) {
		if (steps[i].n_lines > 0)
			use_fetches(self, &steps[i]);
		else
			use_data(self, *addresses++, steps[i].size);
	}
	return end;
}

bool lode_stack_distances_replay(
	LodeStackDistances *self, const LodeTraceFrame *frame, GError **error)
{
	const uint64_t *addresses = frame->addresses;
	size_t next_switch = self->parts != NULL ? 0 : frame->n_switches;

	if (!plan_blocks(self, frame, error))
		return false;
	for (size_t i = 0; i < frame->n_invocations; i++) {
		uint32_t block = frame->blocks[i];

		if (next_switch < frame->n_switches && frame->switches[next_switch].invocation == i)
			run_thread(self, frame->switches[next_switch++].thread);
		if (self->has_too_many) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
				"stack distances by thread: too many threads and lines");
			return false;
		}
		addresses = replay_block(self, block,
			lode_block_dictionary_at(frame->dictionary, block)->n_slots, addresses);
		if (is_full(self)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
				"more than %u different lines of %u bytes: stack distances need "
				"larger lines",
				self->max_lines, 1U << self->line_shift);
			return false;
		}
	}
	return true;
}

const LodeStackDistancesOptions *lode_stack_distances_options(const LodeStackDistances *self)
{
	return &self->options;
}

uint64_t lode_stack_distances_n_accesses(const LodeStackDistances *self)
{
	return self->n_accesses;
}

uint64_t lode_stack_distances_n_lines(const LodeStackDistances *self)
{
	return self->stack.n_lines;
}

static const uint64_t *sum_up(LodeStackDistances *self)
{
	settle(self);
	self->sum = g_renew(uint64_t, self->sum, self->stack.room);
	memset(self->sum, 0, self->stack.room * sizeof(uint64_t));
	for (guint i = 0; i < self->parts->len; i++) {
		const Part *part = part_at(self, i);
		for (size_t j = 0; j < MIN(part->room, self->stack.n_lines); j++)
			self->sum[j] += part->histogram[j];
	}
	return self->sum;
}

const uint64_t *lode_stack_distances_histogram(LodeStackDistances *self, size_t *out_n)
{
	*out_n = self->stack.n_lines;
	return self->parts != NULL ? sum_up(self) : self->stack.histogram;
}

unsigned lode_stack_distances_n_threads(const LodeStackDistances *self)
{
	return self->parts != NULL ? self->parts->len : 0;
}

LodeThreadDistances lode_stack_distances_thread(LodeStackDistances *self, unsigned thread)
{
	settle(self);
	const Part *part = part_at(self, thread);

	return (LodeThreadDistances){part->n_accesses, part->n_first, part->histogram,
		MIN(part->room, self->stack.n_lines)};
}
