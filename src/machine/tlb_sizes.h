/* SPDX-License-Identifier: MIT */
/* How many translations of data addresses a core keeps, by the family of processors. */
#pragma once

#include <stdint.h>

typedef struct {
	const char *family; /* "Zen 3"; "any": not known, then the largest of all families */
	/* Entries of the first level for loads, and of the second level, of 4 KiB pages. */
	uint32_t first, second;
} LodeTlbSizes;

/* For a processor as perf writes it, "GenuineIntel,6,143,8": vendor, family, model and stepping of
 * CPUID; NULL or unknown: "any". Static. */
const LodeTlbSizes *lode_tlb_sizes_of(const char *processor);
