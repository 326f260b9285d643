/* SPDX-License-Identifier: MIT */
/*
 * Where objects of the heap were allocated: HotSpot reports about one allocation in an interval of
 * so many bytes, drawn at random. The object gets a tag, the number of its site and interval.
 *
 *   allocated   Node  Node  Node  long[]  Node ──▶     one in 4 KiB, by chance
 *   tag               7                               "new@Ring.java:21", 4 KiB
 *
 * The tags are of an environment of their own, so that the walk's tags are not touched. After each
 * walk, references to all tagged objects tell where they are, as those to anchors do (heap_walk.h).
 */
#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: the virtual machine reports no allocations. */
bool heap_samples_prepare(JavaVM *vm);

/* The tagged objects, as they stand in the log. */
typedef struct {
	uint8_t *bytes;
	size_t n;
} HeapSamples;

/* Where they are now; none without memory. To be given back with heap_samples_clear(). */
void heap_samples_init(HeapSamples *self, JNIEnv *jni);
void heap_samples_clear(HeapSamples *self);

/* The bytes of all objects that a walk has seen: the larger the heap, the larger the intervals, so
 * that the number of tagged objects is bounded. */
void heap_samples_set_heap_bytes(uint64_t bytes);
