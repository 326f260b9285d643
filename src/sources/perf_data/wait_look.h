/* SPDX-License-Identifier: MIT */
/*
 * A look at a thread that waits, as lode writes it into perf.data: a sample of the event "waiting",
 * which no kernel has. Its registers are the stack pointer and the address after the system call;
 * its stack is there when that thread was not seen at these two before. Its raw data
 * (PERF_SAMPLE_RAW) is, in the machine's byte order:
 *
 *   u32 version, flags, holder, n_words    version 2: the thread ran; only the interval counts
 *   i64 call            the system call's number; -1: it waits outside of one
 *   u64 arguments[6]
 *   u64 interval_ns     since the thread was looked at before, or was first known
 *   u64 delay_ns        for which the thread was ready and had no processor, in all until now
 *   u64 timeout_ns      that it wanted to wait; 0: not known
 *   i64 holder_call     what the holder of the lock did, like `call`; -2: it ran
 *   u64 state           a letter of proc(5), such as 'S'
 *   u32 words[12]       around a futex, from 8 bytes before its address on; or the process that
 *                       is waited for: a child, or that at the other end of a pipe; n_words of
 *                       them are read text, 0, text, 0    what the descriptor is, or the child; the
 * kernel's function (wchan)
 *
 * docs/reference/formats/waits.md describes it for others.
 */
#pragma once

#include "model/waits.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The identifier of its samples: the kernel counts from 1. */
#define LODE_WAITING_ID UINT64_C(0x74696177206c6f6c)

enum {
	LODE_LOOK_VERSION = 1,
	LODE_LOOK_VERSION_RUNS = 2, /* readers of version 1 leave it out */
	LODE_LOOK_WORDS = 12,
	LODE_LOOK_WORDS_BEFORE = 2, /* the futex is the third of them */
	LODE_LOOK_MAX_TEXT = 512,
};

/* Of the flags. */
enum {
	LODE_LOOK_OF_HOLDER = 1, /* at the holder of a lock, for its place: stands for no waiting */
	LODE_LOOK_ON_32_BITS = 2,   /* the numbers of calls are those of i386 */
	LODE_LOOK_WAS_REFUSED = 4,  /* only the kernel's function is known */
	LODE_LOOK_TIME_IS_LEFT = 8, /* timeout_ns is from the look on, not from the wait's begin */
	LODE_LOOK_HAS_PROCESS = 16, /* words[0] is the process that is waited for */
};

enum { LODE_LOOK_NO_CALL = -1, LODE_LOOK_RUNS = -2 };

/* The state of a thread that runs, or waits for a processor, which is all that such a look says. */
#define LODE_LOOK_STATE_RUNS 'R'

typedef struct {
	uint32_t flags;
	uint32_t holder; /* a thread; 0: not known */
	uint32_t n_words;
	int64_t call;
	uint64_t arguments[6];
	uint64_t interval_ns, delay_ns, timeout_ns;
	int64_t holder_call;
	char state; /* 'R': it ran, or could: no wait */
	uint32_t words[LODE_LOOK_WORDS];
	uint64_t place;     /* not written; of a switch: lode_switch_place_key(); 0: a look */
	const char *target; /* "": nothing; borrows from the sample */
	const char *kernel_function;
} LodeWaitLook;

/* Reads the raw data of a sample; false: it is not what lode of this version, or an older one,
 * writes. The texts borrow from it. */
bool lode_wait_look_read(LodeWaitLook *out_look, const void *raw, size_t size);

/* Appends the raw data, as long as makes the next field of a sample aligned. Longer texts are cut.
 */
void lode_wait_look_append(const LodeWaitLook *self, GByteArray *out);
