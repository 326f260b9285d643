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
	uint64_t frame_place;           /* where `frame` was read */
	uint64_t start;                 /* the frame that the walk began at */
	KnownStack *read;               /* what the walk read */
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

/* At most two for each frame. */
static uint64_t read_word(Frame *self, uint64_t address)
{
	uint64_t word = word_at(address), offset = address - self->start;
	KnownStack *read = self->read;

	read->offsets[read->n_read] = (uint32_t)offset;
	read->words[read->n_read++] = word;
	return word;
}

static bool step_out(Frame *self, const ThreadState *thread)
{
	FrameRule rule;

	if (!is_on_stack(thread, self->stack) || !find_rule(self->address, &rule) ||
		rule.cfa_offset == 0)
		return false;
	if (rule.is_from_frame_pointer)
		read_word(self, self->frame_place);
	uint64_t cfa = (rule.is_from_frame_pointer ? self->frame : self->stack) + rule.cfa_offset;
	if (cfa <= self->stack || !is_on_stack(thread, cfa - 8) || cfa - self->start > UINT32_MAX)
		return false;
	if (rule.frame_offset != 0) {
		self->frame_place = cfa - rule.frame_offset;
		if (!is_on_stack(thread, self->frame_place) || self->frame_place < self->start)
			return false;
		self->frame = word_at(self->frame_place);
	}
	self->address = read_word(self, cfa - 8);
	self->stack = cfa;
	return self->address > LOG_PAGE;
}

static uint32_t find_stack(
	ThreadState *thread, uint64_t frame, uint8_t *in_out_kind, KnownStack *out_read)
{
	uint64_t addresses[LOG_MAX_FRAMES];
	Frame at = {
		.start = frame,
		.frame_place = frame,
		.frame = word_at(frame),
		.stack = frame + 16,
		.read = out_read,
	};
	size_t n = 0;

	at.address = read_word(&at, frame + 8);
	do
		addresses[n++] = at.address;
	while (n < LOG_MAX_FRAMES && step_out(&at, thread));
	if (log_is_operator_new(addresses[0]))
		*in_out_kind = LOG_KIND_NEW;
	return log_stack(thread, addresses, n);
}

/*
 * A walk is decided by the words that it reads, the first by the frame, each further one by those
 * before it, and by the rules, which change with the generation. So where all that were read are as
 * they were, the walk would be the same.
 */
static bool is_as_known(
	const KnownStack *self, const ThreadState *thread, uint64_t frame, uint8_t kind)
{
	uint32_t n = self->n_read;

	if (self->frame != frame || self->kind != kind ||
		self->generation != log_code_generation() || n == 0 || n > LOG_MAX_READ)
		return false;
	/* another thread may be writing it: each offset is checked before the word is read */
	for (uint32_t i = 0; i < n; i++) {
		uint64_t place = frame + __atomic_load_n(&self->offsets[i], __ATOMIC_RELAXED);
		if (!is_on_stack(thread, place) || word_at(place) != self->words[i])
			return false;
	}
	return true;
}

static void keep(KnownStack *slot, const KnownStack *found)
{
	uint32_t version = __atomic_load_n(&slot->version, __ATOMIC_RELAXED);

	if (version % 2 != 0 || !__atomic_compare_exchange_n(&slot->version, &version, version + 1,
					false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	slot->id = found->id;
	slot->generation = found->generation;
	slot->kind = found->kind;
	slot->found_kind = found->found_kind;
	slot->n_read = found->n_read;
	slot->frame = found->frame;
	for (uint32_t i = 0; i < found->n_read; i++) {
		slot->offsets[i] = found->offsets[i];
		slot->words[i] = found->words[i];
	}
	__atomic_store_n(&slot->version, version + 2, __ATOMIC_RELEASE);
}

uint32_t call_stack_id(ThreadState *thread, const void *frame, uint8_t *in_out_kind)
{
	KnownStack *slot = log_known_stack_slot((uint64_t)frame, word_at((uint64_t)frame + 8));
	uint32_t version = __atomic_load_n(&slot->version, __ATOMIC_ACQUIRE);

	if (version % 2 == 0 && is_as_known(slot, thread, (uint64_t)frame, *in_out_kind)) {
		uint32_t id = slot->id;
		uint8_t kind = slot->found_kind;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&slot->version, __ATOMIC_RELAXED) == version) {
			*in_out_kind = kind;
			return id;
		}
	}
	KnownStack found = {.generation = log_code_generation(),
		.kind = *in_out_kind,
		.frame = (uint64_t)frame};
	found.id = find_stack(thread, (uint64_t)frame, in_out_kind, &found);
	found.found_kind = *in_out_kind;
	keep(slot, &found);
	return found.id;
}

#else

uint32_t call_stack_id(ThreadState *thread, const void *frame, uint8_t *in_out_kind)
{
	(void)in_out_kind;
	(void)frame;
	return log_stack(thread, NULL, 0);
}

#endif
