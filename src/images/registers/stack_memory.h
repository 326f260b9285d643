/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: the known content of a thread's stack: a dump of the sampled moment, and
 * later writes over it.
 *
 *   lower                    sampled rsp                                      higher
 *   ── writes of push, call ──┼── the dump, with writes over it ──┼── not known ──
 *
 * A write that may have gone anywhere makes all of it unknown.
 *
 * Code may also be followed from a point before the dump up to the dump. Then all writes in between
 * are announced first, the latest one first. Bytes that are still to be overwritten are not known
 * from the dump; all others are, also after a write to an unknown address.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LODE_STACK_MAX_WRITES = 32 };

typedef struct {
	uint64_t address, value;
	unsigned size; /* bytes; 0: anywhere */
	bool is_known; /* the value, of at most 8 bytes; what lay there is gone either way */
} LodeStackWrite;

typedef struct {
	const uint8_t *dump; /* of `size` bytes; borrowed */
	uint64_t start;      /* its address at run time */
	size_t size;
	LodeStackWrite writes[LODE_STACK_MAX_WRITES]; /* the newest last */
	unsigned n_writes;
	LodeStackWrite expected[LODE_STACK_MAX_WRITES]; /* the next one last */
	unsigned n_expected;
	bool is_past;                    /* before the dump was taken */
	const LodeStackWrite *constants; /* words that are the same before and after the dump as
	                                    long as the code is followed; borrowed */
	unsigned n_constants;
} LodeStackMemory;

/* `dump` NULL: nothing is known. */
void lode_stack_memory_init(
	LodeStackMemory *self, const uint8_t *dump, size_t size, uint64_t start);

/* At most 8 bytes, little-endian; false: one of them is not known. */
bool lode_stack_memory_read(
	const LodeStackMemory *self, uint64_t address, unsigned size, uint64_t *out_value);

void lode_stack_memory_write(LodeStackMemory *self, const LodeStackWrite *write);

/* One that will come before the dump, earlier than those expected so far; at most
 * LODE_STACK_MAX_WRITES. When it comes, it is not expected any more. */
void lode_stack_memory_expect(LodeStackMemory *self, const LodeStackWrite *write);

/* A write to an unknown address. */
void lode_stack_memory_forget(LodeStackMemory *self);
