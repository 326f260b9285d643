/* SPDX-License-Identifier: MIT */
/*
 * A fully associative cache, such as a TLB, that replaces the least recently used of its entries:
 * each use takes the same short time, however many entries there are. Plain C without any library,
 * for the plugin that counts in QEMU.
 *
 *   buckets ─▶ entry ─▶ entry            by the number's hash
 *   newest ⇄ entry ⇄ entry ⇄ oldest      by their last use
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	struct FullLruEntry *entries; /* owned, from 1 */
	uint32_t *buckets;            /* owned; 0: empty */
	uint32_t n_entries, n_used;
	uint32_t bucket_bits;
} LodeFullLru;

/* False: out of memory, or none or too many entries. */
bool lode_full_lru_init(LodeFullLru *self, uint32_t n_entries);
void lode_full_lru_clear(LodeFullLru *self);

/* Uses a number, which is brought in when it is not held; whether it was. */
bool lode_full_lru_use(LodeFullLru *self, uint64_t number);
