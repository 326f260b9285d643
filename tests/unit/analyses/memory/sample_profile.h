/* SPDX-License-Identifier: MIT */
/*
 * A profile with data addresses made by hand, for tests of what is computed from them: one program
 * of three functions, any number of threads, and everything that can lie at an address.
 *
 *   sample.c   fill (lines 10…13)   writes counts[] and the buffer of site 1
 *              walk (lines 20…23)   follows struct node, of site 0
 *              main (lines 30…33)   its stack
 *
 *   0x400000      text of /bin/sample          0x10000000  [heap]: nodes, then the buffer
 *   0x404000      its data: int counts[]       0x7f0000000000  [anon]
 *   0x7f1000000000 + k · 0x100000  [stack of thread k]     0x7ffd00000000  [stack]
 */
#pragma once

#include "model/address_rule.h"
#include "model/profile.h"

typedef struct LodeMemorySample LodeMemorySample;

/* Indexes of what is in each of these profiles. */
enum { SAMPLE_EVENT_CLOCK, SAMPLE_EVENT_FAULTS, SAMPLE_N_EVENTS };
enum { SAMPLE_FILL, SAMPLE_WALK, SAMPLE_MAIN, SAMPLE_N_FUNCTIONS };
enum { SAMPLE_INSTRUCTIONS_EACH = 4 }; /* instruction i is of function i / 4, line 10 + … */
enum { SAMPLE_TYPE_NODE, SAMPLE_TYPE_INT };
enum {
	SAMPLE_OBJECT_NEXT,   /* struct node.next, type: offset 0 */
	SAMPLE_OBJECT_KEY,    /* struct node.key: offset 8 */
	SAMPLE_OBJECT_COUNTS, /* int counts[], variable */
	SAMPLE_OBJECT_BUFFER, /* malloc@sample.c:12, allocation site */
	SAMPLE_OBJECT_ANON,   /* [anon], mapping */
	SAMPLE_OBJECT_STACK,  /* [stack]; then one for each further thread's stack */
};

#define SAMPLE_DATA UINT64_C(0x404000)
#define SAMPLE_DATA_SIZE UINT64_C(0x2000)
#define SAMPLE_NODES UINT64_C(0x10000000)
#define SAMPLE_NODES_SIZE UINT64_C(0x10000)
#define SAMPLE_BUFFER UINT64_C(0x10010000)
#define SAMPLE_BUFFER_SIZE UINT64_C(0x20000)
#define SAMPLE_ANON UINT64_C(0x7f0000000000)
#define SAMPLE_STACKS UINT64_C(0x7f1000000000) /* of thread k: + k · the size */
#define SAMPLE_STACK_SIZE UINT64_C(0x100000)
#define SAMPLE_MAIN_STACK UINT64_C(0x7ffd00000000)

typedef struct {
	uint32_t seed;
	uint32_t n_threads;  /* at least 1 */
	uint32_t n_samples;  /* of all kinds */
	uint64_t anon_bytes; /* size of the mapping [anon]; a multiple of 4096 */
	double unresolved;   /* share of samples without an address, their reasons mixed */
	double faults;       /* share of samples that are page faults */
} SampleProfileOptions;

/* The nouns and no samples; LodeMemory.is_stall_weighted is set. */
LodeProfile *sample_profile_new(uint32_t n_threads, uint64_t anon_bytes);

/* The code of an instruction is now that of a line of std::vector, inlined where its own line was;
 * before its samples are added. Gives that own line. */
uint32_t sample_profile_inline_vector(LodeProfile *profile, uint32_t instruction);

/* Adds one access by `instruction` and finds out what lies there: mapping, allocation, object.
 * Gives the sample, which may be changed: rule at-pc, event clock, no latency, size 8. */
LodeMemorySample *sample_profile_access(LodeProfile *profile, uint32_t thread, uint64_t address,
	uint8_t access, uint32_t instruction);

/* Adds a page fault, an access whose address the kernel gave. */
LodeMemorySample *sample_profile_fault(LodeProfile *profile, uint32_t thread, uint64_t address,
	uint64_t time_ns, uint32_t instruction);

/* Adds a sample that has no address. */
LodeMemorySample *sample_profile_unresolved(
	LodeProfile *profile, uint32_t thread, LodeAddressReason reason);

/* The nouns with random samples, in the order of their times; equal for equal options. */
LodeProfile *sample_profile_random(const SampleProfileOptions *options);
