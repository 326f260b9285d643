/* SPDX-License-Identifier: MIT */
/*
 * A hash for GHashTable keys that are two 32-bit numbers packed into one pointer. g_direct_hash()
 * and g_int64_hash() keep the low half only, so that keys which differ in the high half collide.
 */
#pragma once

#include <glib.h>

G_STATIC_ASSERT(sizeof(void *) == 8);

static inline guint lode_pair_hash(const void *key)
{
	guint64 bits = (guint64)GPOINTER_TO_SIZE(key) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	return (guint)(bits >> 32);
}
