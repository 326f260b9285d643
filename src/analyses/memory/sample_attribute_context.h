/* SPDX-License-Identifier: MIT */
/* What is computed once for a profile, for sample_attributes.c and the table of attributes. */
#pragma once

#include "analyses/memory/sample_attributes.h"

struct LodeSampleAttributes {
	const LodeProfile *profile;
	const LodeMemory *memory;
	uint64_t first_ns;     /* of the samples with a time */
	char **thread_labels;  /* per thread */
	const char **opcodes;  /* per attribute set; NULL: none */
	const char **places;   /* per location: "parse.c:120"; NULL: unknown */
	GStringChunk *strings; /* owns the labels and places */
};
