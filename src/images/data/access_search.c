/* SPDX-License-Identifier: MIT */
#include "images/data/access_search.h"

#include <string.h>

/* Where a dump begins is known with the stack pointer. */
static void init_stack(LodeAccessSearch *self)
{
	uint64_t start = 0;
	bool is_known = lode_register_state_read(&self->state, ZYDIS_REGISTER_RSP, &start);

	lode_stack_memory_init(&self->stack, is_known ? self->question->stack : NULL,
		self->question->stack_size, start);
}

void lode_access_search_init(LodeAccessSearch *self, const LodeDataAccessContext *context,
	const LodeDataAccessQuestion *question)
{
	self->context = context;
	self->question = question;
	self->is_at_access = false;
	memset(&self->found, 0, sizeof self->found);
	lode_register_state_init(&self->state, question->registers);
	init_stack(self);
}

bool lode_access_search_decode(LodeAccessSearch *self, uint64_t address)
{
	size_t n = 0;
	const uint8_t *code = self->context->bytes(self->context->data, address, &n);

	if (code == NULL || n == 0)
		return false;
	self->full.bias = self->question->bias;
	return lode_full_instruction_decode(&self->full, code, n, address);
}

void lode_access_search_fail(LodeAccessSearch *self, LodeAddressReason reason)
{
	bool has_registers = self->question->registers != NULL &&
	                     self->question->registers->known != 0;

	memset(&self->found, 0, sizeof self->found);
	self->found.reason = reason == LODE_REASON_CLOBBERED && !has_registers
	                             ? LODE_REASON_NO_REGISTERS
	                             : reason;
}

static bool is_valid(const LodeAccessSearch *self, const LodeDataOperand *operand)
{
	return operand->address + operand->size > operand->address &&
	       self->context->is_valid(
		       self->context->data, operand->address, operand->size, operand->access);
}

uint64_t lode_access_search_base(const LodeAccessSearch *self, const LodeDataOperand *operand)
{
	LodeDataOperand base = *operand;

	if (!lode_full_instruction_locate_base(
		    &self->full, &self->state, operand->operand, &base.address) ||
		!is_valid(self, &base))
		return 0;
	return base.address;
}

static LodeAddressReason locate(
	const LodeAccessSearch *self, uint8_t number, LodeDataOperand *out_operand)
{
	LodeAddressReason reason = lode_full_instruction_locate(
		&self->full, &self->state, number, out_operand);

	if (reason == LODE_REASON_NONE && !is_valid(self, out_operand))
		return LODE_REASON_INVALID_ADDRESS;
	return reason;
}

/* All operands or, where one is not found, none: a string instruction's two belong together. */
static void locate_all(
	LodeAccessSearch *self, LodeAddressRule rule, const uint8_t *numbers, unsigned n)
{
	LodeDataAccess found = {.rule = rule, .pc = self->full.address, .n_operands = (uint8_t)n};

	for (unsigned i = 0; i < n; i++) {
		LodeAddressReason reason = locate(self, numbers[i], &found.operands[i]);

		if (reason != LODE_REASON_NONE) {
			lode_access_search_fail(self, reason);
			return;
		}
	}
	self->found = found;
}

bool lode_access_search_take(LodeAccessSearch *self, LodeAddressRule rule)
{
	uint8_t numbers[LODE_MAX_DATA_OPERANDS];
	unsigned n = lode_full_instruction_accesses(&self->full, numbers);
	uint64_t repetitions;

	if (n == 0)
		return false;
	if (!lode_full_instruction_repetitions(&self->full, &self->state, &repetitions)) {
		self->is_at_access = true;
		lode_access_search_fail(self, LODE_REASON_CLOBBERED);
		return true;
	}
	if (repetitions == 0)
		return false;
	self->is_at_access = true;
	locate_all(self, rule, numbers, n);
	return true;
}
