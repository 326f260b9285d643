/* SPDX-License-Identifier: MIT */
/*
 * What the kernel tells of waits where lode has the right to it, beside looks (wait_look.h):
 *
 *   event "switched"   a sample of the thread at each of its ends of running, just before the
 *                      record of the switch: the arguments of its system call, its stack, the
 *                      functions of the kernel; of a stack that is like an earlier one, its key
 *                      alone (8 bytes)
 *   event "waking"     a sample of the thread that wakes another one, with which one as raw data:
 *                      the tracepoint sched:sched_waking
 *
 *     u16 type, u8 flags, u8 preempt_count, i32 waker, char name[16], i32 woken, priority, cpu
 *
 * docs/reference/formats/waits.md describes both for others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LODE_SWITCHED_EVENT "switched"
#define LODE_WAKING_EVENT "waking"

/* Where a thread stops to run. */
typedef struct {
	uint32_t tid;
	uint64_t ip, stack_pointer, argument; /* the first one, rdi */
	const uint8_t *stack;                 /* at least 8 bytes */
	size_t stack_size;
} LodeSwitchPlace;

/* A key that is the same where the thread is called by the same functions, by what looks like
 * return addresses on the stack; that of a stack that is its key; never 0. */
uint64_t lode_switch_place_key(const LodeSwitchPlace *self);

typedef struct {
	uint32_t waker, woken; /* threads, by the numbers of the first PID namespace */
	bool is_in_interrupt;  /* not the waker's doing: a clock, a disk */
	bool is_in_softirq;    /* likewise, but may be: a packet to this machine */
} LodeWaking;

/* Reads the raw data of a sample; false: it is too short. */
bool lode_waking_read(LodeWaking *out_waking, const void *raw, size_t size);
