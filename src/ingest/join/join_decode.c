/* SPDX-License-Identifier: MIT */
/*
 * Decodes every function that ran, on all workers: what each executed instruction is, the blocks
 * and loops around it, and the function's bytes. Each task writes only its own function's rows;
 * blocks are put together in the order of functions afterwards.
 */
#include "base/arrays/large_array.h"
#include "base/arrays/partition_point.h"
#include "base/worker_pool.h"
#include "ingest/join/function_code.h"
#include "model/profile.h"

#include <string.h>

typedef struct {
	LodeControlFlow flow;
	LodeInstructionDecoder decoder;
	GArray *hints;   /* LodeFlowHint */
	GArray *leaders; /* uint64_t */
} Scratch;

typedef struct {
	LodeProfile *profile;
	const LodeJoinImages *images;
	const GArray *transfers; /* LodeJoinTransfer */
	LodeJoinCode *codes;
	Scratch *scratch; /* of each worker */
	GArray *known;    /* LodeJoinFunctionCode: of functions that are decoded already */
	LodeJoinFunctionCode *functions;
	uint32_t *first_transfers; /* of each function, and one more */
} Decoding;

enum { LONGEST_INSTRUCTION = 15 };

/* Transfers are sorted by source and functions hold ranges of instructions. */
static void split_transfers(Decoding *self)
{
	const GArray *transfers = self->transfers;
	guint n_functions = self->profile->code.functions->len;
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

/* An executed address begins an instruction, however linear decoding reads the bytes before it. */
static void collect_leaders(const Decoding *self, const LodeFunction *function, Scratch *scratch)
{
	uint32_t first = function->first_instruction;

	g_array_set_size(scratch->leaders, 0);
	for (uint32_t i = first; i < first + function->n_instructions; i++)
		g_array_append_val(
			scratch->leaders, lode_profile_instruction(self->profile, i)->address);
}

/* A block's count is that of its first instruction. */
static void count_blocks(
	const LodeProfile *profile, const LodeFunction *function, LodeJoinFunctionCode *code)
{
	for (uint32_t i = 0; i < code->n; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(
			profile, function->first_instruction + i);
		uint32_t block = code->code_blocks[i];
		if (block != LODE_NONE && code->blocks[block].address == instruction->address)
			code->blocks[block].count = instruction->count;
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

static void decode(Decoding *self, size_t index, Scratch *scratch, const uint8_t *code, size_t size)
{
	const LodeFunction *function = lode_profile_function(self->profile, index);
	const LodeJoinFunctionBytes bytes = {code, size, function->address};

	collect_hints(self, index, scratch);
	collect_leaders(self, function, scratch);
	const uint64_t *addresses = (const uint64_t *)(const void *)scratch->leaders->data;
	const LodeSeenFlow seen = {(const LodeFlowHint *)scratch->hints->data, scratch->hints->len,
		addresses, scratch->leaders->len};
	lode_control_flow_build(&scratch->flow, code, size, function->address, &seen);
	lode_join_function_code_take(&self->functions[index], &scratch->flow, &bytes, addresses,
		function->n_instructions);
}

/* The code in `known`, a GArray of LodeJoinFunctionCode by (image, address), for the same
 * instructions of the function; NULL: there is none. */
static LodeJoinFunctionCode *find_known_code(
	GArray *known, const LodeProfile *profile, const LodeFunction *function)
{
	LodeJoinFunctionCode *codes = (LodeJoinFunctionCode *)(void *)known->data;
	guint at = LODE_PARTITION_POINT(known->len, i,
		codes[i].image < function->image || (codes[i].image == function->image &&
							    codes[i].address < function->address));

	if (at == known->len || codes[at].image != function->image ||
		codes[at].address != function->address || codes[at].n != function->n_instructions ||
		codes[at].n == 0)
		return NULL;
	for (uint32_t i = 0; i < codes[at].n; i++)
		if (lode_profile_instruction(profile, function->first_instruction + i)->address !=
			codes[at].addresses[i])
			return NULL;
	return &codes[at];
}

/* Moves all fields except its function; afterwards `from` counts as not decoded. */
static void move_code(LodeJoinFunctionCode *self, LodeJoinFunctionCode *from)
{
	self->n = from->n;
	self->n_blocks = from->n_blocks;
	self->addresses = g_steal_pointer(&from->addresses);
	self->codes = g_steal_pointer(&from->codes);
	self->code_blocks = g_steal_pointer(&from->code_blocks);
	self->blocks = g_steal_pointer(&from->blocks);
	from->n = from->n_blocks = 0;
}

static void decode_function(size_t index, unsigned worker, void *user_data)
{
	Decoding *self = user_data;
	LodeFunction *function = lode_profile_function(self->profile, index);
	Scratch *scratch = &self->scratch[worker];
	LodeBinaryImage *binary = self->images->binaries[function->image];
	LodeJoinFunctionCode *own = &self->functions[index];
	size_t available;
	const uint8_t *code = binary != NULL ? lode_binary_image_bytes(
						       binary, function->address, &available)
	                                     : NULL;

	if (code == NULL)
		return;
	size_t size = trim_recorded(function, scratch, code, decoded_size(function, available));
	LodeJoinFunctionCode *known = find_known_code(self->known, self->profile, function);
	if (known != NULL)
		move_code(own, known);
	else
		decode(self, index, scratch, code, size);
	memcpy(self->codes + function->first_instruction, own->codes,
		own->n * sizeof(LodeJoinCode));
	count_blocks(self->profile, function, own);
	function->code = g_bytes_new(code, size);
}

/* In the order of functions, so that the number of workers does not show. */
static void join_blocks(Decoding *self)
{
	LodeProfile *profile = self->profile;
	size_t n_blocks = 0;

	for (guint i = 0; i < profile->code.functions->len; i++)
		n_blocks += self->functions[i].n_blocks;
	g_array_unref(profile->code.blocks);
	profile->code.blocks = lode_large_array_new(sizeof(LodeBlock), n_blocks);
	for (guint i = 0; i < profile->code.functions->len; i++) {
		LodeFunction *function = lode_profile_function(self->profile, i);
		LodeJoinFunctionCode *own = &self->functions[i];
		function->first_block = profile->code.blocks->len;
		function->n_blocks = own->n_blocks;
		for (uint32_t j = 0; j < own->n_blocks; j++)
			own->blocks[j].function = i;
		if (own->n_blocks > 0)
			g_array_append_vals(profile->code.blocks, own->blocks, own->n_blocks);
		for (uint32_t j = 0; j < own->n; j++)
			if (own->code_blocks[j] != LODE_NONE)
				lode_profile_instruction(profile, function->first_instruction + j)
					->block = function->first_block + own->code_blocks[j];
		lode_join_function_code_clear(own);
	}
}

LodeJoinCode *lode_join_decode(
	LodeProfile *profile, const LodeJoinImages *images, const GArray *transfers, GArray *known)
{
	guint n_functions = profile->code.functions->len,
	      n_instructions = profile->code.instructions->len;
	unsigned n_workers = images->n_workers;
	Decoding decoding = {
		.profile = profile,
		.images = images,
		.transfers = transfers,
		.codes = g_new(LodeJoinCode, MAX(n_instructions, 1)),
		.scratch = g_new0(Scratch, n_workers),
		.known = known,
		.functions = g_new0(LodeJoinFunctionCode, MAX(n_functions, 1)),
	};

	lode_large_array_advise(decoding.codes, n_instructions * sizeof(LodeJoinCode));
	memset(decoding.codes, 0, n_instructions * sizeof(LodeJoinCode));
	split_transfers(&decoding);
	for (unsigned i = 0; i < n_workers; i++) {
		Scratch *scratch = &decoding.scratch[i];
		lode_control_flow_init(&scratch->flow);
		lode_instruction_decoder_init(&scratch->decoder);
		scratch->hints = g_array_new(FALSE, FALSE, sizeof(LodeFlowHint));
		scratch->leaders = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	}
	lode_worker_pool_run(n_functions, n_workers, decode_function, &decoding);
	for (unsigned i = 0; i < n_workers; i++) {
		Scratch *scratch = &decoding.scratch[i];
		lode_control_flow_clear(&scratch->flow);
		g_array_unref(scratch->hints);
		g_array_unref(scratch->leaders);
	}
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
