/* SPDX-License-Identifier: MIT */
/*
 * A function as lines to read. The code is decoded from its start; an executed instruction begins
 * a line in any case, so that data in the code does not throw the rest off.
 */
#include "views/code/code_lines.h"

#include "images/instructions/instruction_decoder.h"
#include "model/code.h"

enum { TEXT_SIZE = 256 };

static const LodeFunction *function_of(const LodeCodeLines *self)
{
	return lode_profile_function(self->profile, self->function);
}

static void add_line(LodeCodeLines *self, uint64_t address, uint32_t instruction, uint32_t size)
{
	LodeCodeLine line = {address, instruction, size};

	if (instruction != LODE_NONE)
		self->line_of[instruction - function_of(self)->first_instruction] =
			self->lines->len;
	g_array_append_val(self->lines, line);
}

static uint64_t address_of(const LodeCodeLines *self, uint32_t instruction)
{
	return lode_profile_instruction(self->profile, instruction)->address;
}

/* Adds the executed instructions before `end`; gives the first one that is not. */
static uint32_t add_executed(LodeCodeLines *self, uint32_t instruction, uint32_t last, uint64_t end)
{
	while (instruction < last && address_of(self, instruction) < end) {
		add_line(self, address_of(self, instruction), instruction, 0);
		instruction++;
	}
	return instruction;
}

/* Decodes the function's bytes; gives the first executed instruction after them. */
static uint32_t add_decoded(LodeCodeLines *self, const uint8_t *code, size_t size)
{
	const LodeFunction *function = function_of(self);
	uint32_t last = function->first_instruction + function->n_instructions;
	uint32_t next = add_executed(self, function->first_instruction, last, function->address);
	LodeInstructionDecoder decoder;

	lode_instruction_decoder_init(&decoder);
	lode_instruction_decoder_begin(&decoder, code, size, function->address);
	for (size_t at = 0; at < size;) {
		uint64_t address = function->address + at;
		LodeDecodedInstruction decoded = {.length = 1};
		if (!lode_instruction_decoder_decode(
			    &decoder, code + at, size - at, address, &decoded) ||
			decoded.length == 0)
			decoded.length = 1;
		uint32_t here = LODE_NONE;
		if (next < last && address_of(self, next) == address)
			here = next++;
		/* Two at one address: no such profile is made, but one may be read. */
		next = add_executed(self, next, last, address + 1);
		uint64_t step = MIN(decoded.length, size - at);
		if (next < last)
			step = MIN(step, address_of(self, next) - address);
		add_line(self, address, here, (uint32_t)step);
		at += step;
	}
	return next;
}

LodeCodeLines *lode_code_lines_new(const LodeProfile *profile, uint32_t function)
{
	LodeCodeLines *self = g_new0(LodeCodeLines, 1);
	const LodeFunction *description = lode_profile_function(profile, function);
	uint32_t next = description->first_instruction;

	self->profile = profile;
	self->function = function;
	self->lines = g_array_new(FALSE, FALSE, sizeof(LodeCodeLine));
	self->line_of = g_new0(uint32_t, (size_t)description->n_instructions + 1);
	if (description->code != NULL) {
		size_t size;
		const uint8_t *code = g_bytes_get_data(description->code, &size);
		next = add_decoded(self, code, size);
	}
	add_executed(self, next, description->first_instruction + description->n_instructions,
		UINT64_MAX);
	return self;
}

void lode_code_lines_free(LodeCodeLines *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->lines);
	g_free(self->line_of);
	g_free(self);
}

static void put_attributes(const LodeProfile *profile, const LodeInstruction *row, GString *out)
{
	const LodeCode *code = lode_code_of(profile);
	const LodeAttributeSet *set = &LODE_AT(
		code->attribute_sets, LodeAttributeSet, row->attribute_set);

	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t id = LODE_AT(code->set_members, uint32_t, set->first + i);
		g_string_append_printf(out, "%s%s", out->len > 0 ? " " : "",
			(const char *)g_ptr_array_index(code->attributes, id));
	}
}

static bool put_disassembly(const LodeCodeLines *self, const LodeCodeLine *line, GString *out)
{
	const LodeFunction *function = function_of(self);
	LodeInstructionDecoder decoder;
	char text[TEXT_SIZE];
	size_t size;

	if (line->size == 0 || function->code == NULL)
		return false;
	const uint8_t *code = g_bytes_get_data(function->code, &size);
	size_t at = (size_t)(line->address - function->address);
	lode_instruction_decoder_init(&decoder);
	if (lode_instruction_disassemble(
		    &decoder, code + at, size - at, line->address, text, sizeof(text)))
		g_string_append(out, text);
	else
		g_string_append_printf(out, "(byte 0x%02x)", code[at]);
	return true;
}

void lode_code_lines_text(const LodeCodeLines *self, uint32_t line, GString *out)
{
	const LodeCodeLine *wanted = &LODE_AT(self->lines, LodeCodeLine, line);

	if (put_disassembly(self, wanted, out) || wanted->instruction == LODE_NONE)
		return;
	const LodeInstruction *row = lode_profile_instruction(self->profile, wanted->instruction);
	if (row->name != NULL)
		g_string_append(out, row->name);
	put_attributes(self->profile, row, out);
}
