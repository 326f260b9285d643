/* SPDX-License-Identifier: MIT */
/*
 * The attributes of a memory sample, by name: "function", "address", "type"… One table; the
 * expression language, pivots and the documentation follow it.
 */
#pragma once

#include "analyses/memory/expressions/expression_value.h"

typedef struct LodeMemory LodeMemory;
typedef struct LodeMemorySample LodeMemorySample;
typedef struct LodeProfile LodeProfile;

enum { LODE_SAMPLE_PAGE_BYTES = 4096, LODE_SAMPLE_LINE_BYTES = 64 };

/* Tables computed once for a profile, so that each sample is only looked up. */
typedef struct LodeSampleAttributes LodeSampleAttributes;

typedef struct {
	const char *name;
	LodeValueKind kind; /* of its values, where it has one */
	bool is_hex;        /* shown as an address */
	/* In its place when samples are grouped: numbers of threads and lines mean little
	 * without the process and the file; NULL: itself. */
	const char *grouped_as;
	LodeValue (*value)(const LodeSampleAttributes *self, const LodeMemorySample *sample);
} LodeSampleAttribute;

/* All of them, by name; static. */
const LodeSampleAttribute *lode_sample_attribute_table(size_t *out_n);
/* Its number in the table, or -1. */
int lode_sample_attribute_find(const char *name);

/* The same for expressions, about LodeMemorySample. */
extern const LodeExpressionSource lode_sample_attribute_source;

/* `profile` has memory, and must outlive the result; `own` as of lode_own_lines_new(). */
LodeSampleAttributes *lode_sample_attributes_new(
	const LodeProfile *profile, const char *const *own);
void lode_sample_attributes_free(LodeSampleAttributes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSampleAttributes, lode_sample_attributes_free)

/* The time of the first sample that has one, from which the attribute `time` counts; 0: none has.
 */
uint64_t lode_sample_first_time(const LodeMemory *memory);

/* "3", or in a profile of several processes "4711.3", by the pid; borrowed. */
const char *lode_sample_attributes_thread_label(const LodeSampleAttributes *self, uint32_t thread);

/* The function of the access, or of the sampled instruction where no access was found; LODE_NONE.
 */
uint32_t lode_sample_attributes_function(
	const LodeSampleAttributes *self, const LodeMemorySample *sample);
