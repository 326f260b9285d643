/* SPDX-License-Identifier: MIT */
#include "images/data/data_access.h"

#include "images/data/access_search.h"
#include "images/registers/forward_emulation.h"

#include <string.h>

/* The target of a jump by a register or the stack may be in another image, which is unknown. */
static LodeStep step_on(LodeAccessSearch *self, uint64_t *address)
{
	LodeStep step = lode_forward_emulate(&self->full, &self->state, &self->stack, address);
	size_t n = 0;

	if (step != LODE_STEP_COMPUTED)
		return step;
	if (self->context->bytes(self->context->data, *address, &n) == NULL || n == 0)
		return LODE_STEP_BLOCKED;
	return LODE_STEP_ON;
}

/* The first of up to `limit` instructions from the sampled one on that accesses memory; `first`
 * names the rule if it is the sampled one itself. */
static void search_forward(LodeAccessSearch *self, unsigned limit, LodeAddressRule first)
{
	uint64_t address = self->question->pc;

	for (unsigned n = 0; n < limit; n++) {
		LodeStep step;

		if (!lode_access_search_decode(self, address)) {
			lode_access_search_fail(self, LODE_REASON_NO_DECODE);
			return;
		}
		if (lode_access_search_take(self, n == 0 ? first : LODE_RULE_FORWARD))
			return;
		if (n + 1 == limit)
			break;
		step = step_on(self, &address);
		if (step != LODE_STEP_ON) {
			lode_access_search_fail(self, step == LODE_STEP_LOST ? LODE_REASON_CLOBBERED
									     : LODE_REASON_BLOCKED);
			return;
		}
	}
	lode_access_search_fail(self, LODE_REASON_NO_ACCESS_IN_RANGE);
}

/* at-pc and forward in one walk, or one rule alone. */
typedef enum {
	SEARCH_FORWARD,
	SEARCH_BACKWARD,
} SearchKind;

static void search(LodeAccessSearch *self, SearchKind kind)
{
	if (kind == SEARCH_FORWARD)
		search_forward(self, LODE_ACCESS_SEARCH_STEPS, LODE_RULE_AT_PC);
	else
		lode_access_search_backward(self);
}

static void search_all(LodeAccessSearch *self, SearchKind first)
{
	const LodeDataAccessContext *context = self->context;
	const LodeDataAccessQuestion *question = self->question;

	search(self, first);
	if (self->found.rule != LODE_RULE_NONE)
		return;
	LodeDataAccess failed = self->found;
	bool was_at_access = self->is_at_access;
	lode_access_search_init(self, context, question);
	search(self, first == SEARCH_FORWARD ? SEARCH_BACKWARD : SEARCH_FORWARD);
	if (self->found.rule == LODE_RULE_NONE && (was_at_access || !self->is_at_access))
		self->found = failed;
}

/* The instruction that was sampled caused the event. */
static void search_here(LodeAccessSearch *self)
{
	if (!lode_access_search_decode(self, self->question->pc))
		lode_access_search_fail(self, LODE_REASON_NO_DECODE);
	else if (!lode_access_search_take(self, LODE_RULE_AT_PC))
		lode_access_search_fail(self, LODE_REASON_NOT_MEMORY);
}

void lode_data_access_find(const LodeDataAccessContext *context,
	const LodeDataAccessQuestion *question, LodeDataAccess *out_access)
{
	LodeAccessSearch self;

	lode_access_search_init(&self, context, question);
	if (question->wants_next)
		search_all(&self, question->is_trigger_before ? SEARCH_BACKWARD : SEARCH_FORWARD);
	else if (question->is_exact)
		search_here(&self);
	else if (question->is_trigger_before)
		lode_access_search_backward(&self);
	else
		lode_access_search_waiting(&self, NULL);
	*out_access = self.found;
}

unsigned lode_data_access_ways(const LodeDataAccessContext *context,
	const LodeDataAccessQuestion *question, LodeDataWay out_ways[LODE_MAX_DATA_WAYS])
{
	LodeAccessSearch self;

	if (question->wants_next || question->is_exact || question->is_trigger_before)
		return 0;
	lode_access_search_init(&self, context, question);
	return lode_access_search_waiting(&self, out_ways);
}

void lode_data_access_apply(const LodeDataAccessContext *context,
	const LodeDataAccessQuestion *question, LodeAddressRule rule, LodeDataAccess *out_access)
{
	LodeAccessSearch self;

	lode_access_search_init(&self, context, question);
	switch (rule) {
	case LODE_RULE_AT_PC:
		search_forward(&self, 1, LODE_RULE_AT_PC);
		break;
	case LODE_RULE_FORWARD:
		search_forward(&self, LODE_ACCESS_SEARCH_STEPS, LODE_RULE_FORWARD);
		break;
	case LODE_RULE_BACKWARD:
		lode_access_search_backward(&self);
		break;
	default:
		lode_access_search_fail(&self, LODE_REASON_NO_ACCESS_IN_RANGE);
		break;
	}
	*out_access = self.found;
}

unsigned lode_data_access_operands(
	const uint8_t *code, size_t size, LodeDataOperand out_operands[LODE_MAX_DATA_OPERANDS])
{
	uint8_t numbers[LODE_MAX_DATA_OPERANDS];
	LodeFullInstruction full = {.bias = 0};

	if (!lode_full_instruction_decode(&full, code, size, 0))
		return 0;
	unsigned n = lode_full_instruction_accesses(&full, numbers);
	for (unsigned i = 0; i < n; i++)
		out_operands[i] = lode_full_instruction_operand(&full, numbers[i]);
	return n;
}
