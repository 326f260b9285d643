/* SPDX-License-Identifier: MIT */
#include "sources/perf_data/wait_switch.h"

#include "base/byte_cursor.h"

#include <string.h>

/* Where programs and libraries lie. Return addresses are seldom multiples of 8, as what a program
 * allocates is; nor do they lie in the stack. */
#define FIXED_FROM UINT64_C(0x400000)
#define FIXED_TO UINT64_C(0x80000000)
#define CODE_FROM UINT64_C(0x550000000000)
#define CODE_TO UINT64_C(0x800000000000)
#define NEAR_STACK (UINT64_C(1) << 24)

static bool may_return_to(uint64_t word, uint64_t stack_pointer)
{
	uint64_t from_stack = word > stack_pointer ? word - stack_pointer : stack_pointer - word;
	bool is_code = (word >= FIXED_FROM && word < FIXED_TO) ||
	               (word >= CODE_FROM && word < CODE_TO);

	return is_code && word % sizeof(word) != 0 && from_stack > NEAR_STACK;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

uint64_t lode_switch_place_key(const LodeSwitchPlace *self)
{
	uint64_t hash = mix(mix(mix(self->tid, self->ip), self->stack_pointer), self->argument);
	uint64_t word;

	if (self->stack_size == sizeof(word)) {
		memcpy(&word, self->stack, sizeof(word));
		return word;
	}
	for (size_t at = 0; at + sizeof(word) <= self->stack_size; at += sizeof(word)) {
		memcpy(&word, self->stack + at, sizeof(word));
		if (may_return_to(word, self->stack_pointer))
			hash = mix(hash, word);
	}
	return hash | 1;
}

/* Of the flags (include/linux/trace_events.h). */
enum { IN_INTERRUPT = 8, IN_SOFTIRQ = 16, IN_NMI = 64 };

enum { TYPE_BYTES = 2, NAME_BYTES = 16 };

bool lode_waking_read(LodeWaking *out_waking, const void *raw, size_t size)
{
	LodeByteCursor cursor;

	lode_byte_cursor_init(&cursor, raw, size, false);
	lode_byte_cursor_skip(&cursor, TYPE_BYTES);
	uint8_t flags = lode_byte_cursor_u8(&cursor);
	lode_byte_cursor_skip(&cursor, 1);
	uint32_t waker = lode_byte_cursor_u32(&cursor);
	lode_byte_cursor_skip(&cursor, NAME_BYTES);
	uint32_t woken = lode_byte_cursor_u32(&cursor);
	if (cursor.is_overrun)
		return false;
	*out_waking = (LodeWaking){
		waker, woken, (flags & (IN_INTERRUPT | IN_NMI)) != 0, (flags & IN_SOFTIRQ) != 0};
	return true;
}
