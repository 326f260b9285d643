/* SPDX-License-Identifier: MIT */
/* The loaded segments of an ELF file: all that a load map has to know of it. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t address, size_bytes;     /* virtual, as in the file */
	uint64_t offset, file_size_bytes; /* where its bytes are */
	bool is_executable;
} LodeLoadMapSegment;

/* The executable PT_LOAD segments as an array of LodeLoadMapSegment, never empty. The caller owns
 * it. Errors: _IO, _CORRUPT (no ELF file, or one without such a segment). */
GArray *lode_load_map_segments_read(const char *path, GError **error);

/* The same, those of data too. */
GArray *lode_load_map_segments_read_all(const char *path, GError **error);
