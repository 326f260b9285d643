/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: what lies on a thread's stack, as far as it is known: a dump of the sampled
 * moment and over it what has been written since.
 *
 *   lower                    sampled rsp                                      higher
 *   ── writes of push, call ──┼── the dump, with writes over it ──┼── not known ──
 *
 * A write that may have gone anywhere makes all of it unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LODE_STACK_MAX_WRITES = 32 };

typedef struct {
	uint64_t address, value;
	unsigned size; /* bytes, at most 8 */
	bool is_known; /* the value; what lay there is gone either way */
} LodeStackWrite;

typedef struct {
	const uint8_t *dump; /* of `size` bytes; borrowed */
	uint64_t start;      /* its address at run time */
	size_t size;
	LodeStackWrite writes[LODE_STACK_MAX_WRITES]; /* the newest last */
	unsigned n_writes;
} LodeStackMemory;

/* `dump` NULL: nothing is known. */
void lode_stack_memory_init(
	LodeStackMemory *self, const uint8_t *dump, size_t size, uint64_t start);

/* At most 8 bytes, little-endian; false: one of them is not known. */
bool lode_stack_memory_read(
	const LodeStackMemory *self, uint64_t address, unsigned size, uint64_t *out_value);

void lode_stack_memory_write(LodeStackMemory *self, const LodeStackWrite *write);

/* A write to an unknown address. */
void lode_stack_memory_forget(LodeStackMemory *self);
