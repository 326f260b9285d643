/* SPDX-License-Identifier: MIT */
/* Numbers at the end of an array of bytes, in the machine's byte order. */
#pragma once

#include <glib.h>
#include <stdint.h>

static inline void lode_append_u32(GByteArray *bytes, uint32_t value)
{
	g_byte_array_append(bytes, (const guint8 *)&value, sizeof(value));
}

static inline void lode_append_u64(GByteArray *bytes, uint64_t value)
{
	g_byte_array_append(bytes, (const guint8 *)&value, sizeof(value));
}
