/* SPDX-License-Identifier: MIT */
/*
 * How often each thread accessed which addresses: IRIX dprof's histogram.
 *
 *   (thread, address ÷ granularity) ─▶ loads, stores, weight
 *
 * An access counts in the cell of its first byte, also where it reaches into the next. It grows one
 * access at a time, so that a recording can be watched while it is made.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeMemorySample LodeMemorySample;
typedef struct LodeProfile LodeProfile;

typedef struct LodeAddressHistogram LodeAddressHistogram;

typedef struct {
	uint64_t address; /* of the first byte of the cell: a multiple of the granularity */
	uint32_t thread;
	uint64_t n_accesses;        /* each once, also those not known to be loads or stores */
	uint64_t n_loads, n_stores; /* one that reads and writes counts in both */
	double weight;
} LodeHistogramCell;

enum { LODE_PAGE_BYTES = 4096, LODE_LINE_BYTES = 64, LODE_WORD_BYTES = 8 };

/* "page", "line", "word", or a power of two up to 2^40, also as "64K", "2M", "1G"; false for
 * anything else. */
bool lode_address_granularity_from_text(const char *text, uint64_t *out_bytes);

/* "page", "line", "word", or "cell" for other sizes: what one is called. */
const char *lode_address_granularity_name(uint64_t bytes);

/* `granularity` is in bytes, a power of two. */
LodeAddressHistogram *lode_address_histogram_new(uint64_t granularity);
void lode_address_histogram_free(LodeAddressHistogram *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAddressHistogram, lode_address_histogram_free)

void lode_address_histogram_add(LodeAddressHistogram *self, uint32_t thread, uint64_t address,
	uint8_t access, double weight);

/* Whether the histogram counts a sample: it has an address and is not a page fault. */
bool lode_address_histogram_counts(const LodeProfile *profile, const LodeMemorySample *sample);

/* Adds the samples whose numbers are given, as far as they count. */
void lode_address_histogram_add_samples(LodeAddressHistogram *self, const LodeProfile *profile,
	const uint32_t *samples, size_t n_samples);

/* The cells by (thread, address); valid until something is added. */
const LodeHistogramCell *lode_address_histogram_cells(LodeAddressHistogram *self, size_t *out_n);

/* The same cells, those of all threads at an address together: thread LODE_NONE. */
const LodeHistogramCell *lode_address_histogram_totals(LodeAddressHistogram *self, size_t *out_n);
