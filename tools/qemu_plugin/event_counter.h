/* SPDX-License-Identifier: MIT */
/*
 * The effects of blocks and their instructions on caches and branch predictors while they are
 * counted:
 *
 *   block begins ─┬─ the branch that ended the last one ─▶ predictor
 *                 └─ the lines of its code ─▶ I1 ──misses─┐
 *   access      ┬───── its lines           ─▶ D1 ──misses─┴─▶ (L2 ──misses─▶) LL
 *               └───── its pages ─▶ first TLB ──misses─▶ second TLB
 *
 * What each execution of an instruction brings about, such as the one reference of most that have
 * one, is not counted here but stands with the block: executions are. Thus the most frequent cases,
 * a reference to the line used last in its set and a branch that was predicted, write nothing.
 *
 * Each is counted for its instruction, by the names and rules of callgrind: a reference that
 * crosses a line is one reference and at most one miss, whatever looks it up looks up all of it, a
 * modification counts as a write, an atomic one as a read and a write, returns are not predicted.
 *
 * Each thread has caches and predictors of its own; they share the last level.
 */
#pragma once

#include "caches/branch_predictor.h"
#include "caches/sets/full_lru.h"
#include "caches/sets/lru_cache.h"
#include "qemu_plugin_interface.h"
#include "sources/counts/count_file_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The columns of a row, in the order of event_counter_names. */
typedef enum {
	EVENT_READS,
	EVENT_WRITES,
	EVENT_FETCH_MISSES,
	EVENT_READ_MISSES,
	EVENT_WRITE_MISSES,
	EVENT_LAST_FETCH_MISSES,
	EVENT_LAST_READ_MISSES,
	EVENT_LAST_WRITE_MISSES,
	EVENT_CONDITIONAL,
	EVENT_CONDITIONAL_WRONG,
	EVENT_INDIRECT,
	EVENT_INDIRECT_WRONG,
	EVENT_SECOND_FETCH_MISSES,
	EVENT_SECOND_DATA_MISSES,
	EVENT_PAGE_MISSES,
	EVENT_SECOND_PAGE_MISSES,
	N_EVENTS, /* a row is as long as two lines of a cache */
} EventColumn;

extern const char *const event_counter_names[N_EVENTS];

typedef struct {
	LodeLruShape first_instructions, first_data, last;
	LodeLruShape second, pages, second_pages; /* of no sets: there is none */
	LodeBranchModel branches;
} EventCounterOptions;

/* "I1+D1+LL", each SETS:WAYS:LINE; or "I1+D1+LL+L2+DTLB+DTLB2", of which the last three may be
 * 0:0:0. */
bool event_counter_parse_caches(const char *text, EventCounterOptions *options);

/* Whether it is counted with these caches. */
bool event_counter_has(const EventCounterOptions *options, EventColumn column);

typedef enum {
	EVENT_BRANCH_NONE,
	EVENT_BRANCH_CONDITIONAL, /* at the end of a block; also a repeated instruction */
	EVENT_BRANCH_INDIRECT,
} EventBranch;

/* The facts of a block that are needed when it begins: in one line of the processor's cache, as
 * waiting for it took a fifth of the time. One whose `sizes` is NULL is not there. */
typedef struct {
	_Alignas(64) uint64_t address;
	uint64_t end;
	uint64_t first_line; /* of the caches of code */
	uint64_t branch_target;
	const uint8_t *sizes; /* of the instructions; borrowed */
	uint32_t number, first_instruction;
	uint32_t end_instruction; /* after its last one */
	uint32_t accesses;        /* 1 << i: the i-th instruction may access memory, in a way that
	                           * each access is counted */
	uint8_t n_lines;
	uint8_t branch;    /* EventBranch, of its last instruction */
	uint8_t last_size; /* of that */
} EventBlock;

/* A TLB, of one set or of several; neither: there is none. */
typedef struct {
	LodeFullLru full;
	LodeLruCache sets;
} EventTlb;

enum { EVENT_RECENT_PAGES = 256 };

/* Of a thread; made once for each owner of the file's arrays. */
typedef struct {
	uint64_t *rows;          /* N_EVENTS for each instruction */
	const EventBlock *block; /* that was executed last; one without a branch: none */
	LodeLruCache instructions, data;
	LodeBranchPredictor *predictor;
	LodeCallgrindPredictor *callgrind; /* the same, where it is that model; or NULL */

	/* The reference that the instruction `row` has made last, in this execution of it. */
	uint64_t *row;
	uint64_t start, end;
	bool is_store, is_modified, is_missed, is_second_missed, is_last_missed;
	bool is_page_missed, is_second_page_missed;

	LodeLruCache second; /* without lines: there is none */
	EventTlb pages, second_pages;
	uint64_t recent_pages[EVENT_RECENT_PAGES]; /* see Recent in event_counter.c */
} EventThread;

/* Once; borrows nothing. False: no memory, or no such caches. */
bool event_counter_init(const EventCounterOptions *options);

bool event_thread_init(EventThread *self);

/* Sets where the calling thread's accesses are counted; NULL: nowhere. */
void event_thread_enter(EventThread *self);

/* While a block is translated. Borrows the sizes of its instructions. */
void event_block_init(EventBlock *self, struct qemu_plugin_tb *piece, uint32_t number,
	uint32_t first_instruction, const uint8_t *sizes);

/* What each of its executions brings about, of at most COUNT_BLOCK_MAX_INSTRUCTIONS + 1 places; how
 * many there are. */
size_t event_block_fixed(
	const EventBlock *self, struct qemu_plugin_tb *piece, CountFixedEvent *out_events);

/* Adds the calls of its accesses, to each translation of it. */
void event_block_add_calls(const EventBlock *self, struct qemu_plugin_tb *piece);

/* From now on there is more than one thread. */
void event_counter_expect_threads(void);

/* Private to event_block_begin(): its slow ways. */
void event_thread_predict(EventThread *self, uint64_t next);
void event_thread_fetch(EventThread *self, const EventBlock *block, uint64_t line);

/* The branch that ended the last block was mispredicted. */
static inline void event_thread_count_wrong(EventThread *self)
{
	const EventBlock *block = self->block;
	unsigned column = block->branch == EVENT_BRANCH_INDIRECT ? EVENT_INDIRECT_WRONG
	                                                         : EVENT_CONDITIONAL_WRONG;

	self->rows[(size_t)(block->end_instruction - 1) * N_EVENTS + column]++;
}

/* Where the last block ended with a branch, and went on at `next`. */
static inline void event_thread_branch(EventThread *self, uint64_t next)
{
	const EventBlock *block = self->block;
	uint64_t address = block->end - block->last_size;
	bool is_wrong = false;

	if (block->branch == EVENT_BRANCH_INDIRECT)
		is_wrong = lode_callgrind_predictor_indirect(self->callgrind, address, next);
	else if (next == block->end || next == block->branch_target)
		/* Elsewhere it goes when a signal comes, which says nothing of the branch. */
		is_wrong = lode_callgrind_predictor_conditional(
			self->callgrind, address, next != block->end);
	if (is_wrong)
		event_thread_count_wrong(self);
}

/* Rows are many, and waiting for them took half of the time. */
static inline void event_block_prefetch(const EventThread *self, const EventBlock *block)
{
	const uint64_t *rows = self->rows + (size_t)block->first_instruction * N_EVENTS;

	for (uint32_t left = block->accesses; left != 0; left &= left - 1)
		__builtin_prefetch(&rows[(uint32_t)__builtin_ctz(left) * N_EVENTS], 1);
}

/*
 * In front of each block. Most have lines that were used last in their sets, and come after one
 * that callgrind's predictor is enough for: these need no call.
 */
__attribute__((always_inline)) static inline void event_block_begin(
	EventThread *self, const EventBlock *block)
{
	uint64_t line = block->first_line, end = line + block->n_lines;

	if (self->block->branch != EVENT_BRANCH_NONE) {
		if (__builtin_expect(self->callgrind != NULL, 1))
			event_thread_branch(self, block->address);
		else
			event_thread_predict(self, block->address);
	}
	self->block = block;
	self->row = NULL;
	event_block_prefetch(self, block);
	do {
		if (__builtin_expect(!lode_lru_cache_is_last(&self->instructions, line), 0)) {
			event_thread_fetch(self, block, line);
			return;
		}
	} while (++line < end);
}
