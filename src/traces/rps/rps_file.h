/* SPDX-License-Identifier: MIT */
/*
 * An .rps file that is open: where its frames are, by the index, or where that is missing or
 * damaged, by going through the sections from the front. Reads through one descriptor at given
 * offsets, so that several threads may use it. Private to traces/.
 */
#pragma once

#include "base/files/input_file.h"
#include "traces/rps/rps_frame.h"
#include "traces/rps/rps_section.h"
#include "traces/trace_description.h"

typedef struct {
	uint64_t offset, bytes; /* of the section */
	LodeRpsSummary summary;
} LodeRpsEntry;

typedef struct LodeRpsFile {
	char *path;
	LodeInputFile *file; /* unpacked */
	uint64_t size;
	GArray *frames;                    /* LodeRpsEntry */
	LodeTraceDescription *description; /* the last one that is whole; empty without */
	char *damage;                      /* the damaged part; NULL: none was found */
} LodeRpsFile;

/* Errors: _IO, _CORRUPT (no such file), _UNSUPPORTED. */
LodeRpsFile *lode_rps_file_open(const char *path, GError **error);
void lode_rps_file_close(LodeRpsFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRpsFile, lode_rps_file_close)

/* Frame 0 … frames->len − 1; borrowed. */
const LodeRpsEntry *lode_rps_file_frame(const LodeRpsFile *self, uint64_t number);

/* Bytes of the file; the caller owns them. Errors: _IO, _CORRUPT (they are not there), _LIMIT. */
uint8_t *lode_rps_file_read(
	const LodeRpsFile *self, uint64_t offset, uint64_t size, GError **error);

/* A section's header and its head, whose checksum holds; the caller owns the head. */
uint8_t *lode_rps_file_read_head(
	const LodeRpsFile *self, uint64_t offset, LodeRpsSection *out_section, GError **error);
