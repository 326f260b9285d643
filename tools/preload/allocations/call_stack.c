/* SPDX-License-Identifier: MIT */
#include "call_stack.h"

#include "frame_rule.h"
#include "log.h"
#include "log_format.h"
#include "thread_state.h"

#if defined(__x86_64__)

/*
 * A rule as it is kept, in two words that other threads may be writing: the first is the address
 * exclusive-or the second, so that halves of two rules fit nothing.
 *
 *   cfa_offset : 32 │ frame_offset : 16 │ generation : 14 │ is_from_frame_pointer │ is_known
 */
enum { FLAG_KNOWN = 1, FLAG_FRAME_POINTER = 2, GENERATION_BITS = 14, GENERATION_SHIFT = 2 };

static uint64_t generation(void)
{
	return log_code_generation() & ((1 << GENERATION_BITS) - 1);
}

static uint64_t pack(const FrameRule *rule)
{
	return (uint64_t)rule->cfa_offset << 32 | (uint64_t)rule->frame_offset << 16 |
	       generation() << GENERATION_SHIFT |
	       (rule->is_from_frame_pointer ? FLAG_FRAME_POINTER : 0) | FLAG_KNOWN;
}

static bool find_rule(uint64_t address, FrameRule *out_rule)
{
	uint64_t *slot = log_frame_rule_slot(address);
	uint64_t check = __atomic_load_n(&slot[0], __ATOMIC_RELAXED);
	uint64_t packed = __atomic_load_n(&slot[1], __ATOMIC_RELAXED);

	if ((check ^ packed) == address && (packed & FLAG_KNOWN) != 0 &&
		(packed >> GENERATION_SHIFT & ((1 << GENERATION_BITS) - 1)) == generation()) {
		*out_rule = (FrameRule){
			.cfa_offset = (uint32_t)(packed >> 32),
			.frame_offset = (uint16_t)(packed >> 16),
			.is_from_frame_pointer = (packed & FLAG_FRAME_POINTER) != 0,
		};
		return true;
	}
	if (!frame_rule_find(address, out_rule))
		return false;
	packed = pack(out_rule);
	__atomic_store_n(&slot[0], address ^ packed, __ATOMIC_RELAXED);
	__atomic_store_n(&slot[1], packed, __ATOMIC_RELAXED);
	return true;
}

typedef struct {
	uint64_t address, stack, frame; /* registers */
} Frame;

static bool is_on_stack(const ThreadState *thread, uint64_t address)
{
	return address >= thread->stack_low && address % 8 == 0 &&
	       address + 8 <= thread->stack_high;
}

static uint64_t word_at(uint64_t address)
{
	return *(const uint64_t *)address;
}

static bool step_out(Frame *self, const ThreadState *thread)
{
	FrameRule rule;

	if (!is_on_stack(thread, self->stack) || !find_rule(self->address, &rule) ||
		rule.cfa_offset == 0)
		return false;
	uint64_t cfa = (rule.is_from_frame_pointer ? self->frame : self->stack) + rule.cfa_offset;
	if (cfa <= self->stack || !is_on_stack(thread, cfa - 8))
		return false;
	if (rule.frame_offset != 0) {
		if (!is_on_stack(thread, cfa - rule.frame_offset))
			return false;
		self->frame = word_at(cfa - rule.frame_offset);
	}
	self->address = word_at(cfa - 8);
	self->stack = cfa;
	return self->address > LOG_PAGE;
}

uint32_t call_stack_id(ThreadState *thread, const void *frame, uint8_t *in_out_kind)
{
	uint64_t addresses[LOG_MAX_FRAMES];
	Frame at = {
		.frame = word_at((uint64_t)frame),
		.address = word_at((uint64_t)frame + 8),
		.stack = (uint64_t)frame + 16,
	};
	size_t n = 0;

	do
		addresses[n++] = at.address;
	while (n < LOG_MAX_FRAMES && step_out(&at, thread));
	if (log_is_operator_new(addresses[0]))
		*in_out_kind = LOG_KIND_NEW;
	return log_stack(thread, addresses, n);
}

#else

uint32_t call_stack_id(ThreadState *thread, const void *frame, uint8_t *in_out_kind)
{
	(void)in_out_kind;
	(void)frame;
	return log_stack(thread, NULL, 0);
}

#endif
