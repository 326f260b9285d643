/* SPDX-License-Identifier: MIT */
/*
 * The static control flow of one function: decoded instructions, basic blocks, edges, loops.
 *
 * Blocks end at branches and before targets; a call does not end a block. Indirect jumps go where
 * the caller says the recording saw them go (jump tables). Loops are natural loops (back edge to a
 * dominator; Aho et al. §9.6); see loop_nest.h.
 */
#pragma once

#include "images/instructions/instruction_decoder.h"

typedef struct {
	uint64_t source, target; /* instruction addresses */
} LodeFlowHint;

/* The flow of a function that a recording shows; all borrowed. */
typedef struct {
	const LodeFlowHint *hints; /* jumps that were seen, sorted by (source, target) */
	size_t n_hints;
	const uint64_t *leaders; /* addresses where instructions start (they ran), ascending */
	size_t n_leaders;
} LodeSeenFlow;

typedef struct {
	uint64_t address;
	LodeDecodedInstruction decoded;
	uint32_t block;
	bool is_return_point; /* the instruction before it is a call */
} LodeStaticInstruction;

typedef struct {
	uint32_t first, n;      /* range of instructions */
	uint32_t successors[2]; /* blocks; UINT32_MAX: none. [0] fall-through, [1] direct target */
	uint8_t loop_depth;     /* natural loops around it; at most 255 */
	bool is_loop_head;
	bool is_reachable; /* from the entry or a hint */
	bool is_padding;   /* filling after a jump or a return, to align what follows */
} LodeStaticBlock;

typedef struct {
	GArray *instructions; /* LodeStaticInstruction, by address */
	GArray *blocks;       /* LodeStaticBlock, by address */
	GArray *hints;        /* LodeFlowHint inside the function, sorted; further edges of the last
	                         instruction of a block */
	uint64_t undecoded_bytes;
	LodeDecodeCache *cache; /* kept from one build to the next, half a megabyte; whoever keeps
	                           many graphs hands it from each to the next; NULL: none yet */
} LodeControlFlow;

/* The buffers are kept between calls: init once, build for each function, clear at the end. */
void lode_control_flow_init(LodeControlFlow *self);
void lode_control_flow_clear(LodeControlFlow *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeControlFlow, lode_control_flow_clear)

/*
 * Decodes [address, address + size) linearly and builds blocks, edges and loops. `seen` may be
 * NULL: nothing. Each hint's target inside the function begins a block, as does what follows
 * padding; where linear decoding does not hit a target or a leader on an instruction boundary (data
 * in code), decoding starts afresh there. Bytes that do not decode are skipped and counted.
 */
void lode_control_flow_build(LodeControlFlow *self, const uint8_t *code, size_t size,
	uint64_t address, const LodeSeenFlow *seen);

/* The index of the instruction at an address, or UINT32_MAX. */
uint32_t lode_control_flow_find(const LodeControlFlow *self, uint64_t address);
