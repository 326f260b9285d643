/* SPDX-License-Identifier: MIT */
/*
 * How often each thread accessed which addresses: IRIX dprof's histogram.
 *
 *   (thread, address ÷ granularity) ─▶ loads, stores, weight
 *
 * It grows one access at a time, so that a recording can be watched while it is made.
 */
#pragma once

#include "model/profile.h"

typedef struct LodeAddressHistogram LodeAddressHistogram;

typedef struct {
	uint64_t address; /* of the first byte of the cell: a multiple of the granularity */
	uint32_t thread;
	uint64_t n_loads, n_stores; /* accesses; one that reads and writes counts in both */
	double weight;
} LodeHistogramCell;

/* `granularity` is in bytes, a power of two: 4096 page, 64 line, 8 word. */
LodeAddressHistogram *lode_address_histogram_new(uint64_t granularity);
void lode_address_histogram_free(LodeAddressHistogram *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAddressHistogram, lode_address_histogram_free)

void lode_address_histogram_add(LodeAddressHistogram *self, uint32_t thread, uint64_t address,
	uint8_t access, double weight);

/* Adds the samples whose numbers are given, those without an address and of page faults left out.
 */
void lode_address_histogram_add_samples(LodeAddressHistogram *self, const LodeProfile *profile,
	const uint32_t *samples, size_t n_samples);

/* The cells by (thread, address); valid until something is added. */
const LodeHistogramCell *lode_address_histogram_cells(LodeAddressHistogram *self, size_t *out_n);

/* The same cells, those of all threads at an address together: thread LODE_NONE. */
const LodeHistogramCell *lode_address_histogram_totals(LodeAddressHistogram *self, size_t *out_n);
