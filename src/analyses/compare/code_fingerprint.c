/* SPDX-License-Identifier: MIT */
#include "analyses/compare/code_fingerprint.h"

#include "base/arrays/sort_order.h"
#include "images/instructions/instruction_decoder.h"
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

enum { GRAM = 3, OPCODE_BITS = 20 };

/* Bytes that are not an instruction are skipped one by one. */
static void decode(LodeCodeFingerprint *self, const uint8_t *code, size_t size, uint64_t address)
{
	LodeInstructionDecoder decoder;
	LodeDecodedInstruction one;

	lode_instruction_decoder_init(&decoder);
	lode_instruction_decoder_begin(&decoder, code, size, address);
	for (size_t at = 0; at < size;) {
		if (!lode_instruction_decoder_decode(
			    &decoder, code + at, size - at, address + at, &one)) {
			at++;
			continue;
		}
		self->addresses[self->n] = address + at;
		self->opcodes[self->n++] = (uint32_t)one.prefix << 16 | one.mnemonic;
		at += one.length;
	}
}

void lode_code_fingerprint_init(LodeCodeFingerprint *self, const LodeFunction *function)
{
	size_t size = 0;
	const uint8_t *code = function->code != NULL ? g_bytes_get_data(function->code, &size)
	                                             : NULL;

	*self = (LodeCodeFingerprint){
		.opcodes = g_new(uint32_t, size + 1),
		.addresses = g_new(uint64_t, size + 1),
	};
	decode(self, code, size, function->address);
	self->grams = g_new(uint64_t, self->n + 1);
	for (uint32_t i = 0; i + GRAM <= self->n; i++) {
		uint64_t gram = 0;
		for (uint32_t j = 0; j < GRAM; j++)
			gram = gram << OPCODE_BITS | (self->opcodes[i + j] & 0xfffff);
		self->grams[i] = gram;
	}
	if (self->n >= GRAM)
		qsort(self->grams, self->n - GRAM + 1, sizeof(uint64_t), lode_compare_u64);
}

void lode_code_fingerprint_clear(LodeCodeFingerprint *self)
{
	g_clear_pointer(&self->opcodes, g_free);
	g_clear_pointer(&self->addresses, g_free);
	g_clear_pointer(&self->grams, g_free);
	self->n = 0;
}

double lode_code_fingerprint_likeness(const LodeCodeFingerprint *a, const LodeCodeFingerprint *b)
{
	size_t n = a->n >= GRAM ? a->n - GRAM + 1 : 0, m = b->n >= GRAM ? b->n - GRAM + 1 : 0;
	size_t common = 0;

	for (size_t i = 0, j = 0; i < n && j < m;) {
		common += a->grams[i] == b->grams[j];
		bool is_first_next = a->grams[i] <= b->grams[j];
		bool is_second_next = b->grams[j] <= a->grams[i];
		i += is_first_next;
		j += is_second_next;
	}
	return n > 0 && m > 0 ? (double)common / (double)(n + m - common) : 0;
}

bool lode_code_fingerprint_equals(const LodeCodeFingerprint *a, const LodeCodeFingerprint *b)
{
	return a->n > 0 && a->n == b->n &&
	       memcmp(a->opcodes, b->opcodes, a->n * sizeof(uint32_t)) == 0;
}
