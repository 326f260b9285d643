/* SPDX-License-Identifier: MIT */
#include "ingest/join/function_code.h"

#include "images/code/frame_use.h"
#include "model/code.h"

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

static void set_static(
	LodeJoinFunctionCode *self, uint32_t index, const LodeControlFlow *flow, uint32_t found)
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
	self->code_blocks[index] = instruction->block;
}

/* Both lists ascend. */
static void match_instructions(
	LodeJoinFunctionCode *self, const LodeControlFlow *flow, const LodeJoinFunctionBytes *bytes)
{
	const GArray *decoded = flow->instructions;
	LodeInstructionDecoder decoder;
	g_autofree uint8_t *uses = g_new(uint8_t, decoded->len + 1);
	uint32_t found = 0;

	lode_frame_use_find(flow, bytes->code, bytes->size, bytes->address, uses);
	lode_instruction_decoder_init(&decoder);
	lode_instruction_decoder_begin(&decoder, bytes->code, bytes->size, bytes->address);
	for (uint32_t i = 0; i < self->n; i++) {
		uint64_t address = self->addresses[i], offset = address - bytes->address;
		LodeDecodedInstruction alone;
		self->code_blocks[i] = LODE_NONE;
		while (found < decoded->len &&
			g_array_index(decoded, LodeStaticInstruction, found).address < address)
			found++;
		if (found < decoded->len &&
			g_array_index(decoded, LodeStaticInstruction, found).address == address) {
			set_static(self, i, flow, found);
			self->codes[i].frame_use = uses[found];
		} else if (offset < bytes->size &&
			   lode_instruction_decoder_decode(&decoder, bytes->code + offset,
				   bytes->size - offset, address, &alone)) {
			set_code(&self->codes[i], &alone);
		}
	}
}

static uint64_t block_end(const LodeControlFlow *flow, const LodeStaticBlock *block)
{
	const LodeStaticInstruction *last = &g_array_index(
		flow->instructions, LodeStaticInstruction, block->first + block->n - 1);

	return last->address + last->decoded.length;
}

/* Only blocks with an instruction are kept; most functions have many that never execute. */
static void keep_blocks(LodeJoinFunctionCode *self, const LodeControlFlow *flow)
{
	g_autofree uint32_t *numbers = g_new0(uint32_t, flow->blocks->len + 1);

	for (uint32_t i = 0; i < self->n; i++)
		if (self->code_blocks[i] != LODE_NONE)
			numbers[self->code_blocks[i]] = 1;
	for (uint32_t b = 0; b < flow->blocks->len; b++)
		self->n_blocks += numbers[b];
	self->blocks = g_new(LodeBlock, MAX(self->n_blocks, 1));
	for (uint32_t b = 0, next = 0; b < flow->blocks->len; b++) {
		const LodeStaticBlock *block = &g_array_index(flow->blocks, LodeStaticBlock, b);
		if (numbers[b] == 0)
			continue;
		numbers[b] = next;
		self->blocks[next++] = (LodeBlock){
			.address = g_array_index(
				flow->instructions, LodeStaticInstruction, block->first)
		                           .address,
			.end = block_end(flow, block),
			.loop_depth = block->loop_depth,
			.is_loop_head = block->is_loop_head,
		};
	}
	for (uint32_t i = 0; i < self->n; i++)
		if (self->code_blocks[i] != LODE_NONE)
			self->code_blocks[i] = numbers[self->code_blocks[i]];
}

void lode_join_function_code_take(LodeJoinFunctionCode *self, const LodeControlFlow *flow,
	const LodeJoinFunctionBytes *bytes, const uint64_t *addresses, uint32_t n)
{
	self->n = n;
	self->addresses = g_memdup2(addresses, n * sizeof(uint64_t));
	self->codes = g_new0(LodeJoinCode, MAX(n, 1));
	self->code_blocks = g_new(uint32_t, MAX(n, 1));
	match_instructions(self, flow, bytes);
	keep_blocks(self, flow);
}

void lode_join_function_code_clear(LodeJoinFunctionCode *self)
{
	g_clear_pointer(&self->addresses, g_free);
	g_clear_pointer(&self->codes, g_free);
	g_clear_pointer(&self->code_blocks, g_free);
	g_clear_pointer(&self->blocks, g_free);
}
