/* SPDX-License-Identifier: MIT */
/*
 * A bounded piece of an address trace, as invocations of blocks:
 *
 *   blocks     17      4     17      9 …          one id per invocation
 *   addresses  a b     c     d e     -            of the data references, in program order: as
 *                                                 many for an invocation as its block has slots
 *   switches   (0, thread 0) (2, thread 1) …      from that invocation on it is that thread
 *
 * Frames are packed, and unpacked from a trace: simulations work on them directly.
 */
#pragma once

#include "traces/blocks/block_dictionary.h"

/*
 * A frame ends when one of these would be passed; they bound the memory of packing and unpacking:
 * 88 MiB for a frame, and up to three times as much again while it is encoded, four times where
 * that is thorough. Larger frames are packed smaller; most programs come to 25 M
 * references in one of these.
 */
enum {
	LODE_FRAME_MAX_REFERENCES = 32 << 20,
	LODE_FRAME_MAX_INVOCATIONS = 4 << 20,
	LODE_FRAME_MAX_ADDRESSES = 8 << 20,
	LODE_FRAME_MAX_SWITCHES = 1 << 20,
};

/* Arrays of freed frames, which later frames use: memory from the system is cleared page
 * by page, which costs as much as filling it. Shared by threads. */
typedef struct LodeFramePool LodeFramePool;

LodeFramePool *lode_frame_pool_new(void);
LodeFramePool *lode_frame_pool_ref(LodeFramePool *self);
void lode_frame_pool_unref(LodeFramePool *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFramePool, lode_frame_pool_unref)

typedef struct {
	uint32_t invocation; /* ascending; the first is 0 */
	uint16_t thread;
} LodeTraceSwitch;

typedef struct {
	LodeBlockDictionary *dictionary; /* a reference; where it differs from that of the
	                                    frame before, ids begin anew */
	uint32_t first_new_block;        /* blocks from here… */
	uint32_t n_blocks;               /* …up to here came up in this frame */
	uint64_t first_reference;        /* of the trace */
	uint64_t first_instruction;
	uint64_t n_references, n_instructions; /* of this frame */
	uint32_t *blocks;                      /* owned; × n_invocations */
	uint64_t *addresses;                   /* owned; × n_addresses */
	LodeTraceSwitch *switches;             /* owned; × n_switches */
	size_t n_invocations, n_addresses, n_switches;
	bool is_last;                                      /* of a trace that is made */
	size_t blocks_room, addresses_room, switches_room; /* private, as those below */
	size_t likely_blocks, likely_addresses;            /* that there will be room for */
	LodeFramePool *pool;                               /* a reference; NULL: none */
} LodeTraceFrame;

/* Empty; takes a reference of the dictionary. Never NULL. */
LodeTraceFrame *lode_trace_frame_new(LodeBlockDictionary *dictionary);
void lode_trace_frame_free(LodeTraceFrame *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceFrame, lode_trace_frame_free)

/* Makes an empty frame take arrays from a pool, and give its own back in the end. NULL: it does
 * not. */
void lode_trace_frame_use_pool(LodeTraceFrame *self, LodeFramePool *pool);

/* Makes an empty frame expect the size of one before it: it makes room for that at once when it
 * reaches a megabyte, as growing step by step copies it, and touches new memory, each time.
 */
void lode_trace_frame_expect(LodeTraceFrame *self, const LodeTraceFrame *before);

/* Appends an invocation by a thread; `addresses` are as many as the block has slots. Counts the
 * references and instructions. */
void lode_trace_frame_append(
	LodeTraceFrame *self, uint32_t block, uint16_t thread, const uint64_t *addresses);

/* The out-of-line parts of the three functions below, which run for each block. */
void lode_trace_frame_grow_addresses(LodeTraceFrame *self, size_t n_more);
void lode_trace_frame_grow_blocks(LodeTraceFrame *self);
void lode_trace_frame_append_switch(LodeTraceFrame *self, uint16_t thread);

/* The place of the addresses of the block that is appended next, of any; there is room for two. */
static inline uint64_t *lode_trace_frame_next_addresses(LodeTraceFrame *self)
{
	enum { ROOM = 2 * LODE_BLOCK_MAX_SLOTS };

	if (G_UNLIKELY(self->addresses_room - self->n_addresses < ROOM))
		lode_trace_frame_grow_addresses(self, ROOM);
	return self->addresses + self->n_addresses;
}

/* Appends an invocation of a block, which has the number `id`, whose addresses stand there already.
 */
static inline void lode_trace_frame_append_placed(LodeTraceFrame *self, uint32_t id,
	unsigned n_instructions, unsigned n_slots, uint16_t thread)
{
	size_t n = self->n_invocations;

	if (G_UNLIKELY(
		    self->n_switches == 0 || self->switches[self->n_switches - 1].thread != thread))
		lode_trace_frame_append_switch(self, thread);
	if (G_UNLIKELY(n == self->blocks_room))
		lode_trace_frame_grow_blocks(self);
	self->blocks[n] = id;
	self->n_invocations = n + 1;
	self->n_addresses += n_slots;
	self->n_blocks = MAX(self->n_blocks, id + 1);
	self->n_instructions += n_instructions;
	self->n_references += (uint64_t)n_instructions + n_slots;
}

/* Whether another block would pass a bound. */
static inline bool lode_trace_frame_is_full(const LodeTraceFrame *self)
{
	return self->n_references + LODE_BLOCK_MAX_INSTRUCTIONS + LODE_BLOCK_MAX_SLOTS >
	               LODE_FRAME_MAX_REFERENCES ||
	       self->n_invocations >= LODE_FRAME_MAX_INVOCATIONS ||
	       self->n_addresses + LODE_BLOCK_MAX_SLOTS > LODE_FRAME_MAX_ADDRESSES ||
	       self->n_switches >= LODE_FRAME_MAX_SWITCHES;
}

/* Whether so many more blocks with so many references might pass one. */
bool lode_trace_frame_is_nearly_full(
	const LodeTraceFrame *self, size_t n_blocks, size_t n_references);

/* Walks through the references of a frame. Borrows it. */
typedef struct {
	const LodeTraceFrame *frame;
	size_t invocation, address, next_switch; /* private, as all below */
	uint64_t fetch_address;
	uint16_t thread;
	uint8_t instruction, slot;
	bool has_fetched;
} LodeTraceReferences;

/* In front of the first. */
void lode_trace_references_init(LodeTraceReferences *self, const LodeTraceFrame *frame);

/* Up to `room` references; fewer only at the end. */
size_t lode_trace_references_next(LodeTraceReferences *self, LodeReference *out, size_t room);
