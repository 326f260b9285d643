/* SPDX-License-Identifier: MIT */
/*
 * The intermediate form between the text of callgrind files and a recording: flat arrays in the
 * order of the files, one row for each line that counts. Private to sources/.
 *
 *   text ──scanner──▶ LodeCallgrindRecords ──merge──▶ LodeRecording
 */
#pragma once

#include "sources/counts/callgrind.h"

#include <stdint.h>

enum {
	LODE_CALLGRIND_MAX_EVENTS = 64, /* columns of one recording; callgrind knows some 20 */
	LODE_CALLGRIND_MAX_OBJECTS = 1 << 17, /* more than any address space holds */
};

/* Where cost lines stand: what the last ob=, fn= and fl=/fi=/fe= lines said. */
typedef struct {
	uint32_t object, function, file;
} LodeCallgrindPlace;

/* A line of self cost: `n_values` of `values` from `first_value`, by column of the recording. */
typedef struct {
	uint64_t address;
	uint32_t first_value;
	uint32_t n_values;
	uint32_t place;
	uint32_t line;
} LodeCallgrindCostRecord;

/*
 * Rows that grow. They are reserved for what a file of its size can hold at most and only touched
 * as far as used, in huge pages: page faults would otherwise take longer than the reading.
 */
typedef struct {
	void *data;
	size_t room; /* bytes */
} LodeCallgrindRows;

typedef struct {
	LodeRecording *recording; /* events, totals, objects, names: filled by the scanner */
	GHashTable *name_ids;     /* name → index + 1 */
	GHashTable *object_ids;   /* path → index + 1 */
	bool has_totals;          /* every part ended with a `totals:` line */

	LodeCallgrindRows places; /* LodeCallgrindPlace */
	LodeCallgrindRows costs;  /* LodeCallgrindCostRecord */
	LodeCallgrindRows values; /* double */
	LodeCallgrindRows jumps;  /* LodeRecordedJump */
	LodeCallgrindRows calls;  /* LodeRecordedCall */
	size_t n_places, n_costs, n_values, n_jumps, n_calls;
} LodeCallgrindRecords;

/* Makes room for `size` bytes; what lies there stays. */
bool lode_callgrind_rows_reserve(LodeCallgrindRows *self, size_t size, GError **error);

/* Appends what one file's text says. Errors begin `line 12: …`. */
bool lode_callgrind_scan(LodeCallgrindRecords *records, const char *text, size_t size,
	const LodeProgress *progress, GError **error);

/* As lode_callgrind_read(), of one text in memory; `name` stands in errors. */
LodeRecording *lode_callgrind_read_text(
	const char *name, const char *text, size_t size, GError **error);
