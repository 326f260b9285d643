/* SPDX-License-Identifier: MIT */
/* A real program, as if it had been mapped and had run: where its code lay, and a walk through it.
 */
#pragma once

#include "images/elf/binary_image.h"
#include "sources/perf_data/perf_data.h"

typedef struct {
	const char *path;
	LodeBinaryImage *image;
	uint64_t bias;           /* run-time address − address in the image */
	LodePerfMapping mapping; /* of its code; without build-id */
	uint8_t build_id[20];    /* its own */
} SampledProgram;

void sampled_program_open(SampledProgram *self, const char *path);
void sampled_program_close(SampledProgram *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SampledProgram, sampled_program_close)

const LodeBinaryFunction *sampled_program_function(const SampledProgram *self, const char *symbol);

/* The second instruction of a function: what waited is then in the function, too. */
uint64_t sampled_program_second(const SampledProgram *self, const char *symbol);

typedef struct {
	GArray *branches;     /* LodePerfBranch, in the order of time; run-time addresses */
	GHashTable *executed; /* address in the image → executions between two branches */
	GHashTable *fallen;   /* likewise → times that the instruction behind it came next */
} Walk;

/* A key for what happened to one address. */
double walk_count(const GHashTable *table, uint64_t address);

/*
 * Goes from the beginning of a function through what it calls, at conditional branches by chance,
 * until `n` branches were taken and a return leads out of `inner`, which is left whole then.
 */
void walk_run(Walk *self, const SampledProgram *program, const char *start, const char *inner,
	size_t n, GRand *rand);
void walk_clear(Walk *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Walk, walk_clear)

/* How often a branch was taken; addresses in the image. */
double walk_taken(
	const Walk *self, const SampledProgram *program, uint64_t source, uint64_t target);
