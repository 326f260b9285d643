/* SPDX-License-Identifier: MIT */
/*
 * Samples in the kernel's code: one row for each of its functions, at the address where it begins,
 * in the object "[kernel]". Which function it was is known on the machine that recorded, until it
 * boots anew; otherwise there is one row for all. Private to ingest/sampled/.
 */
#pragma once

#include "process/places.h"
#include "sources/code/kernel_symbols.h"

typedef struct {
	LodeRecording *recording; /* borrowed, as the images */
	LodeCodeImages *images;
	LodeKernelSymbols *symbols; /* of this machine; NULL: not read or hidden */
	bool is_read;               /* whether they were tried: when a sample is in the kernel */
	uint64_t text;  /* where the current recording's kernel began; 0: of another machine */
	uint32_t image; /* LODE_NONE: no sample is in the kernel */
} LodeSampledKernel;

void lode_sampled_kernel_init(
	LodeSampledKernel *self, LodeRecording *recording, LodeCodeImages *images);
void lode_sampled_kernel_clear(LodeSampledKernel *self);

/* Begins a recording, which was made where the kernel's code began at `text`; 0: unknown. */
void lode_sampled_kernel_begin(LodeSampledKernel *self, const LodePerfInfo *info, uint64_t text);

/* Where a sample in the kernel belongs. */
LodePlaceOutcome lode_sampled_kernel_place(
	LodeSampledKernel *self, uint64_t address, LodePlace *out_place);

/*
 * The function in which a sample of the current recording was and, of a call chain, those that
 * called it in the kernel, the innermost first (const char *, valid until the kernel is cleared).
 * "[kernel]" stands for all that follow each other and are not known.
 */
void lode_sampled_kernel_functions(
	LodeSampledKernel *self, const LodePerfSample *sample, GPtrArray *out_functions);

/* Names the functions of the rows, once these are sorted. */
void lode_sampled_kernel_name_rows(LodeSampledKernel *self);
