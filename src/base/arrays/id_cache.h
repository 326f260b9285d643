/* SPDX-License-Identifier: MIT */
/*
 * Small keys → ids, for the hot loops that give a million instructions their attribute sets and
 * locations: the profile's own tables hash whole texts, which this saves for all but the first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t words[4];
} LodeIdKey;

typedef struct {
	LodeIdKey key;
	uint32_t id;
	bool is_used;
} LodeIdSlot;

typedef struct {
	LodeIdSlot *slots;
	size_t n_slots; /* a power of two */
	size_t n_used;
} LodeIdCache;

void lode_id_cache_init(LodeIdCache *self);
void lode_id_cache_clear(LodeIdCache *self);

/* The slot of a key, added when new (then *out_is_new is true and the caller sets its id). Valid
 * until the next call. */
LodeIdSlot *lode_id_cache_find(LodeIdCache *self, const LodeIdKey *key, bool *out_is_new);

/* Likewise, for keys that a file chooses; NULL where it would be new and there are `max` already.
 */
LodeIdSlot *lode_id_cache_find_limited(
	LodeIdCache *self, const LodeIdKey *key, size_t max, bool *out_is_new);
