/* SPDX-License-Identifier: MIT */
/*
 * Multiplicative hashing (Knuth, The Art of Computer Programming 3, section 6.4): a key times 2⁶⁴
 * divided by the golden ratio spreads keys that lie close together over the high bits of the
 * product. Not for keys that an attacker chooses so that they collide.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#define LODE_HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* A slot 0 … 2^bits − 1 for a key; bits is 1 … 64. */
static inline uint64_t lode_hash_slot(uint64_t key, unsigned bits)
{
	return key * LODE_HASH_MULTIPLIER >> (64 - bits);
}

/* The hash of a sequence to which `value` is appended; begin with anything, its length say. Both
 * halves of the result may be used. */
static inline uint64_t lode_hash_append(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * LODE_HASH_MULTIPLIER;
	return hash ^ hash >> 32;
}

G_STATIC_ASSERT(sizeof(void *) == 8);

/* For GHashTable keys that are two 32-bit numbers packed into one pointer. g_direct_hash() and
 * g_int64_hash() keep the low half only, so that keys which differ in the high half collide. */
static inline guint lode_hash_pair(const void *key)
{
	return (guint)lode_hash_slot(GPOINTER_TO_SIZE(key), 32);
}
