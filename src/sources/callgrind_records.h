/* SPDX-License-Identifier: MIT */
/*
 * What stands between the text of callgrind files and a recording: flat arrays in the order of the
 * files, one row for each line that counts. Private to src/sources/callgrind*.c.
 *
 *   text ──scanner──▶ LodeCallgrindRecords ──merge──▶ LodeCallgrindRecording
 */
#pragma once

#include "sources/callgrind.h"

enum {
	LODE_CALLGRIND_MAX_EVENTS = 64, /* columns of one recording; callgrind knows some 20 */
	LODE_CALLGRIND_MAX_OBJECTS = 1 << 17, /* more than any address space holds */
};

/* A line of self cost: `n_values` of `values` from `first_value`. */
typedef struct {
	uint64_t address;
	uint64_t first_value;
	uint32_t object, function, file, line;
	uint16_t n_values;
	uint16_t layout; /* index into layouts */
} LodeCallgrindCostRecord;

/* Which column of the recording each column of one `events:` line is. */
typedef struct {
	uint8_t n;
	uint8_t columns[LODE_CALLGRIND_MAX_EVENTS];
} LodeCallgrindLayout;

typedef struct {
	LodeCallgrindRecording
		*recording;	/* events, totals, objects, names: filled by the scanner */
	GHashTable *name_ids;	/* name → index + 1 */
	GHashTable *object_ids; /* path → index + 1 */
	GArray *layouts;	/* LodeCallgrindLayout */
	bool has_totals;	/* every part ended with a `totals:` line */

	LodeCallgrindCostRecord *costs;
	size_t n_costs, costs_room;
	uint64_t *values;
	size_t n_values, values_room;
	LodeCallgrindJump *jumps;
	size_t n_jumps, jumps_room;
	LodeCallgrindCall *calls;
	size_t n_calls, calls_room;
} LodeCallgrindRecords;

/* Appends what one file's text says. Errors begin `line 12: …`. */
bool lode_callgrind_scan(LodeCallgrindRecords *records, const char *text, size_t size,
	const LodeProgress *progress, GError **error);

/* Sorts and sums the rows into the recording's arrays. */
bool lode_callgrind_merge(LodeCallgrindRecords *records, GError **error);

/* As lode_callgrind_read(), of one text in memory; `name` stands in errors. */
LodeCallgrindRecording *lode_callgrind_read_text(
	const char *name, const char *text, size_t size, GError **error);

/* Room for at least one more element of `size` bytes; NULL and an error when memory is short. */
void *lode_callgrind_grow(void *rows, size_t *room, size_t size, GError **error);
