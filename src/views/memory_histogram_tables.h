/* SPDX-License-Identifier: MIT */
/* The tables of a histogram, whatever form they are written in. Only the files
 * memory_histogram….c include it. */
#pragma once

#include "analyses/memory/address_histogram.h"
#include "analyses/memory/cell_contents.h"
#include "views/memory_histogram.h"
#include "views/memory_notes.h"

/* The cells of a thread, or of all together: thread LODE_NONE. */
typedef struct {
	const LodeHistogramCell *cells; /* by address */
	size_t n_cells;
	uint64_t n_accesses;
	double weight;
	uint32_t thread;
} LodeHistogramTable;

typedef struct {
	const LodeProfile *profile;
	const LodeMemoryHistogramOptions *options;
	LodeAddressHistogram *histogram;
	LodeCellContents *contents;
	LodeMemoryNotes notes; /* shares are of notes.weight */
	LodeHistogramTable together;
	GArray *threads; /* LodeHistogramTable, by thread */
} LodeHistogramTables;

/* The numbers of a table's cells in the order asked for, cut at the limit; GArray of size_t. */
GArray *lode_histogram_sorted_cells(
	const LodeHistogramTables *self, const LodeHistogramTable *table);

void lode_memory_histogram_text(const LodeHistogramTables *self, FILE *out);
void lode_memory_histogram_json(const LodeHistogramTables *self, FILE *out);
void lode_memory_histogram_csv(const LodeHistogramTables *self, FILE *out);
