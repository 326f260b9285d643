/* SPDX-License-Identifier: MIT */
/*
 * From a sample to the access that it is charged to, in one place for recordings and for running
 * processes:
 *
 *   sample + event + registers ─┐
 *   mappings at that time      ─┤
 *   code, flow, branch targets ─┼─▶ rule ─▶ access, its addresses validated, and what lies there
 *   allocation logs: %fs       ─┘
 *
 * An address that the processor or the kernel gave beats the rules of images/data/data_access.h.
 * Accesses by lode's own libraries in the program are not accesses of the program.
 */
#pragma once

#include "images/data/data_access.h"
#include "process/allocations.h"
#include "process/places.h"
#include "sources/perf_data/perf_data.h"

/* All borrowed. */
typedef struct {
	LodePlaces *places;
	LodeAllocations *allocations; /* NULL: thread pointers are not known */
	/* For how long to wait for all branch targets of an image; then samples in it have no
	 * address until they are read. Negative: as long as it takes. */
	gint64 patience_us;
	bool wants_next; /* the next access in place of the one that waited */
} LodeAccessResolver;

typedef struct {
	const LodePerfRecord *record; /* a sample */
	const LodePerfEvent *event;
	uint64_t time_ns; /* LODE_TIME_NOW: the places know the present only */
	LodePlace place;  /* image LODE_NONE: the sample lies in none */
} LodeSampledCode;

typedef struct {
	LodeDataAccess access;
	/* The mapping of each operand; `end` 0: unknown. The file number LODE_NONE with "[stack]"
	 * is a stack without a known mapping, as far as it is known to reach. */
	LodeMappedRange places[LODE_MAX_DATA_OPERANDS];
	/* For an ambiguous sample the candidates that may have waited, if all of them are known,
	 * and their mappings. */
	LodeDataWay ways[LODE_MAX_DATA_WAYS];
	LodeMappedRange way_places[LODE_MAX_DATA_WAYS][LODE_MAX_DATA_OPERANDS];
	unsigned n_ways;
	LodeUserRegisters registers; /* known 0: none */
	LodeDataAccessQuestion
		question; /* the question as it was asked; without registers: it was not asked, as
	                     these or the image are missing. Refers to the arguments, and to this
	                     struct, which must not be moved. */
} LodeResolvedAccess;

/* Never fails: what cannot be said has a reason. */
void lode_access_resolver_find(const LodeAccessResolver *self, const LodeSampledCode *sampled,
	LodeResolvedAccess *out_access);

/* Finds what lies at the addresses of an access that is known, as of an instruction executed step
 * by step: `access` and `registers` of the argument are set, the rest of it is 0. The ip of the
 * record is the run-time address of the code. */
void lode_access_resolver_locate(const LodeAccessResolver *self, const LodeSampledCode *sampled,
	LodeResolvedAccess *inout_access);

/* The frame of an address, from registers and the dumped stack. */
typedef struct {
	bool has_frame;
	LodeFramePlace frame; /* of the stack that the address is in, of a function of the image */
	int64_t from_thread_pointer; /* of the address; 0: not known */
} LodeAccessedFrame;

/* The frame of an address that an instruction of the sampled image (NULL: it lies in none)
 * accesses. */
LodeAccessedFrame lode_resolved_access_frame(
	const LodeResolvedAccess *self, LodeCodeImage *image, uint64_t access_pc, uint64_t address);
