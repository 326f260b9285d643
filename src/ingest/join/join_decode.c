/* SPDX-License-Identifier: MIT */
/*
 * Decodes every function that ran, on all workers: what each executed instruction is, the blocks
 * and loops around it, and the function's bytes. Each task writes only its own function's rows;
 * blocks are put together in the order of functions afterwards.
 */
#include "base/large_array.h"
#include "base/worker_pool.h"
#include "ingest/join/join.h"

#include <string.h>

typedef struct {
	LodeControlFlow flow;
	LodeInstructionDecoder decoder;
	GArray *hints;   /* LodeFlowHint */
	GArray *leaders; /* uint64_t */
} Scratch;

typedef struct {
	LodeBlock *blocks;
	uint32_t n_blocks;
} FunctionBlocks;

typedef struct {
	LodeProfile *profile;
	const LodeJoinImages *images;
	const GArray *transfers; /* LodeJoinTransfer */
	LodeJoinCode *codes;
	Scratch *scratch; /* of each worker */
	FunctionBlocks *functions;
	uint32_t *first_transfers; /* of each function, and one more */
} Decoding;

enum { LONGEST_INSTRUCTION = 15 };

/* Transfers are sorted by source and functions hold ranges of instructions. */
static void split_transfers(Decoding *self)
{
	const GArray *transfers = self->transfers;
	guint n_functions = self->profile->functions->len;
	uint32_t at = 0;

	self->first_transfers = g_new(uint32_t, n_functions + 1);
	for (guint i = 0; i < n_functions; i++) {
		const LodeFunction *function = lode_profile_function(self->profile, i);
		uint32_t end = function->first_instruction + function->n_instructions;
		self->first_transfers[i] = at;
		while (at < transfers->len &&
			g_array_index(transfers, LodeJoinTransfer, at).source < end)
			at++;
	}
	self->first_transfers[n_functions] = at;
}

/* Jumps inside the function; an instruction that repeats itself is not a loop. */
static void collect_hints(const Decoding *self, size_t index, Scratch *scratch)
{
	const LodeFunction *function = lode_profile_function(self->profile, index);
	uint32_t first = function->first_instruction, n = function->n_instructions;

	g_array_set_size(scratch->hints, 0);
	for (uint32_t i = self->first_transfers[index]; i < self->first_transfers[index + 1]; i++) {
		const LodeJoinTransfer *transfer = &g_array_index(
			self->transfers, LodeJoinTransfer, i);
		if (!transfer->is_jump || transfer->target == transfer->source ||
			transfer->target - first >= n)
			continue;
		LodeFlowHint hint = {
			.source =
				lode_profile_instruction(self->profile, transfer->source)->address,
			.target =
				lode_profile_instruction(self->profile, transfer->target)->address,
		};
		g_array_append_val(scratch->hints, hint);
	}
}

/* What executed is an instruction, whatever linear decoding makes of the bytes before it. */
static void collect_leaders(const Decoding *self, const LodeFunction *function, Scratch *scratch)
{
	uint32_t first = function->first_instruction;

	g_array_set_size(scratch->leaders, 0);
	for (uint32_t i = first; i < first + function->n_instructions; i++)
		g_array_append_val(
			scratch->leaders, lode_profile_instruction(self->profile, i)->address);
}

static void set_code(LodeJoinCode *code, const LodeDecodedInstruction *decoded)
{
	code->target = decoded->has_target ? decoded->target : 0;
	code->kinds = decoded->kinds;
	code->mnemonic = decoded->mnemonic;
	code->prefix = decoded->prefix;
	code->memory = decoded->memory;
	code->branch = (uint8_t)decoded->branch;
	code->length = decoded->length;
	code->is_repeat = decoded->is_repeat;
}

static void apply_static(
	const Decoding *self, uint32_t index, const LodeControlFlow *flow, uint32_t found)
{
	const LodeStaticInstruction *instruction = &g_array_index(
		flow->instructions, LodeStaticInstruction, found);
	const LodeStaticBlock *block = &g_array_index(
		flow->blocks, LodeStaticBlock, instruction->block);
	LodeJoinCode *code = &self->codes[index];

	set_code(code, &instruction->decoded);
	code->loop_depth = block->loop_depth;
	code->is_loop_head = block->is_loop_head && block->first == found;
	code->is_return_point = instruction->is_return_point;
	lode_profile_instruction(self->profile, index)->block = instruction->block;
}

/* Both lists ascend. What linear decoding skipped (a jump after a prefix) is decoded alone. */
static void match_instructions(const Decoding *self, const LodeFunction *function,
	const uint8_t *code, size_t size, Scratch *scratch)
{
	const GArray *decoded = scratch->flow.instructions;
	uint32_t first = function->first_instruction, found = 0;

	for (uint32_t i = first; i < first + function->n_instructions; i++) {
		uint64_t address = lode_profile_instruction(self->profile, i)->address;
		LodeDecodedInstruction alone;
		while (found < decoded->len &&
			g_array_index(decoded, LodeStaticInstruction, found).address < address)
			found++;
		if (found < decoded->len &&
			g_array_index(decoded, LodeStaticInstruction, found).address == address)
			apply_static(self, i, &scratch->flow, found);
		else if (address - function->address < size &&
			 lode_instruction_decoder_decode(&scratch->decoder,
				 code + (address - function->address),
				 size - (address - function->address), address, &alone))
			set_code(&self->codes[i], &alone);
	}
}

static uint64_t block_end(const LodeControlFlow *flow, const LodeStaticBlock *block)
{
	const LodeStaticInstruction *last = &g_array_index(
		flow->instructions, LodeStaticInstruction, block->first + block->n - 1);

	return last->address + last->decoded.length;
}

/* Their first_block is not known before all functions are decoded: indexes are the function's own
 * until join_blocks(). */
static void keep_blocks(Decoding *self, size_t index, const LodeControlFlow *flow)
{
	FunctionBlocks *own = &self->functions[index];

	own->n_blocks = flow->blocks->len;
	own->blocks = g_new0(LodeBlock, MAX(own->n_blocks, 1));
	for (uint32_t i = 0; i < own->n_blocks; i++) {
		const LodeStaticBlock *block = &g_array_index(flow->blocks, LodeStaticBlock, i);
		own->blocks[i] = (LodeBlock){
			.function = (uint32_t)index,
			.address = g_array_index(
				flow->instructions, LodeStaticInstruction, block->first)
		                           .address,
			.end = block_end(flow, block),
			.loop_depth = block->loop_depth,
			.is_loop_head = block->is_loop_head,
		};
	}
}

/* A block's count is that of its first instruction. */
static void count_blocks(Decoding *self, size_t index)
{
	const LodeFunction *function = lode_profile_function(self->profile, index);
	FunctionBlocks *own = &self->functions[index];
	uint32_t first = function->first_instruction;

	for (uint32_t i = first; i < first + function->n_instructions; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(self->profile, i);
		if (instruction->block < own->n_blocks &&
			own->blocks[instruction->block].address == instruction->address)
			own->blocks[instruction->block].count = instruction->count;
	}
}

/* The recorded bounds end where the last instruction that ran begins: let it be decoded whole. */
static size_t decoded_size(const LodeFunction *function, size_t available)
{
	uint64_t size = function->size;

	if (function->source == LODE_FUNCTION_RECORDED)
		size += LONGEST_INSTRUCTION - 1;
	return (size_t)MIN(size, (uint64_t)available);
}

/* The true end of recorded bounds, so that the decoder does not read past what ran. */
static size_t trim_recorded(
	LodeFunction *function, Scratch *scratch, const uint8_t *code, size_t size)
{
	LodeDecodedInstruction last;
	uint64_t offset = function->size - 1;

	if (function->source != LODE_FUNCTION_RECORDED)
		return size;
	if (offset < size && lode_instruction_decoder_decode(&scratch->decoder, code + offset,
				     size - offset, function->address + offset, &last))
		function->size = offset + last.length;
	return (size_t)MIN(function->size, (uint64_t)size);
}

static void decode_function(size_t index, unsigned worker, void *user_data)
{
	Decoding *self = user_data;
	LodeFunction *function = lode_profile_function(self->profile, index);
	Scratch *scratch = &self->scratch[worker];
	LodeBinaryImage *binary = self->images->binaries[function->image];
	size_t available;
	const uint8_t *code = binary != NULL ? lode_binary_image_bytes(
						       binary, function->address, &available)
	                                     : NULL;

	if (code == NULL)
		return;
	size_t size = trim_recorded(function, scratch, code, decoded_size(function, available));
	collect_hints(self, index, scratch);
	collect_leaders(self, function, scratch);
	const LodeSeenFlow seen = {(const LodeFlowHint *)scratch->hints->data, scratch->hints->len,
		(const uint64_t *)scratch->leaders->data, scratch->leaders->len};
	lode_control_flow_build(&scratch->flow, code, size, function->address, &seen);
	lode_instruction_decoder_begin(&scratch->decoder, code, size, function->address);
	match_instructions(self, function, code, size, scratch);
	keep_blocks(self, index, &scratch->flow);
	count_blocks(self, index);
	function->code = g_bytes_new(code, size);
}

/* In the order of functions, so that the number of workers does not show. */
static void join_blocks(Decoding *self)
{
	LodeProfile *profile = self->profile;
	size_t n_blocks = 0;

	for (guint i = 0; i < profile->functions->len; i++)
		n_blocks += self->functions[i].n_blocks;
	g_array_unref(profile->blocks);
	profile->blocks = lode_large_array_new(sizeof(LodeBlock), n_blocks);
	for (guint i = 0; i < profile->functions->len; i++) {
		LodeFunction *function = lode_profile_function(self->profile, i);
		uint32_t end = function->first_instruction + function->n_instructions;
		function->first_block = profile->blocks->len;
		function->n_blocks = self->functions[i].n_blocks;
		if (function->n_blocks > 0)
			g_array_append_vals(
				profile->blocks, self->functions[i].blocks, function->n_blocks);
		g_free(self->functions[i].blocks);
		for (uint32_t j = function->first_instruction; j < end; j++)
			if (lode_profile_instruction(self->profile, j)->block != LODE_NONE)
				lode_profile_instruction(self->profile, j)->block +=
					function->first_block;
	}
}

static void init_scratch(Scratch *self)
{
	lode_control_flow_init(&self->flow);
	lode_instruction_decoder_init(&self->decoder);
	self->hints = g_array_new(FALSE, FALSE, sizeof(LodeFlowHint));
	self->leaders = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

static void clear_scratch(Scratch *self)
{
	lode_control_flow_clear(&self->flow);
	g_array_unref(self->hints);
	g_array_unref(self->leaders);
}

LodeJoinCode *lode_join_decode(
	LodeProfile *profile, const LodeJoinImages *images, const GArray *transfers)
{
	guint n_functions = profile->functions->len, n_instructions = profile->instructions->len;
	unsigned n_workers = images->n_workers;
	Decoding decoding = {
		.profile = profile,
		.images = images,
		.transfers = transfers,
		.codes = g_new(LodeJoinCode, MAX(n_instructions, 1)),
		.scratch = g_new0(Scratch, n_workers),
		.functions = g_new0(FunctionBlocks, MAX(n_functions, 1)),
	};

	lode_large_array_advise(decoding.codes, n_instructions * sizeof(LodeJoinCode));
	memset(decoding.codes, 0, n_instructions * sizeof(LodeJoinCode));
	split_transfers(&decoding);
	for (unsigned i = 0; i < n_workers; i++)
		init_scratch(&decoding.scratch[i]);
	lode_worker_pool_run(n_functions, n_workers, decode_function, &decoding);
	for (unsigned i = 0; i < n_workers; i++)
		clear_scratch(&decoding.scratch[i]);
	join_blocks(&decoding);
	for (guint i = 0; i < n_instructions; i++) {
		LodeInstruction *instruction = lode_profile_instruction(profile, i);
		LodeJoinCode *code = &decoding.codes[i];
		const LodeFunction *function = lode_profile_function(
			profile, instruction->function);
		instruction->size = code->length;
		code->is_entry = instruction->address == function->address &&
		                 function->source != LODE_FUNCTION_RECORDED;
	}
	g_free(decoding.first_transfers);
	g_free(decoding.functions);
	g_free(decoding.scratch);
	return decoding.codes;
}
