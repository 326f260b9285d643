/* SPDX-License-Identifier: MIT */
/*
 * Sources: AMD, "Software Optimization Guide" for family 17h (publications 55723, 56305), 19h
 * (56665, 57647) and 1Ah (58455), sections on the data TLBs; Intel, "Optimization Reference Manual"
 * (248966), tables of the cache and TLB parameters of Skylake, Sunny Cove and Golden Cove.
 */
#include "machine/tlb_sizes.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* Models [least, most] of a family of CPUID. */
typedef struct {
	const char *vendor;
	unsigned family, least, most;
	LodeTlbSizes sizes;
} Row;

static const Row rows[] = {
	{"AuthenticAMD", 23, 0x00, 0x2f, {"Zen", 64, 1536}},
	{"AuthenticAMD", 23, 0x30, 0xff, {"Zen 2", 64, 2048}},
	{"AuthenticAMD", 25, 0x00, 0x0f, {"Zen 3", 64, 2048}},
	{"AuthenticAMD", 25, 0x20, 0x5f, {"Zen 3", 64, 2048}},
	{"AuthenticAMD", 25, 0x10, 0x1f, {"Zen 4", 72, 3072}},
	{"AuthenticAMD", 25, 0x60, 0xff, {"Zen 4", 72, 3072}},
	{"AuthenticAMD", 26, 0x00, 0xff, {"Zen 5", 96, 4096}},
	{"GenuineIntel", 6, 0x3d, 0x3d, {"Broadwell", 64, 1536}},
	{"GenuineIntel", 6, 0x47, 0x47, {"Broadwell", 64, 1536}},
	{"GenuineIntel", 6, 0x4f, 0x4f, {"Broadwell", 64, 1536}},
	{"GenuineIntel", 6, 0x4e, 0x4e, {"Skylake", 64, 1536}},
	{"GenuineIntel", 6, 0x5e, 0x5e, {"Skylake", 64, 1536}},
	{"GenuineIntel", 6, 0x55, 0x55, {"Skylake", 64, 1536}},
	{"GenuineIntel", 6, 0x8e, 0x8e, {"Skylake", 64, 1536}},
	{"GenuineIntel", 6, 0x9e, 0x9e, {"Skylake", 64, 1536}},
	{"GenuineIntel", 6, 0x6a, 0x6a, {"Ice Lake", 64, 2048}},
	{"GenuineIntel", 6, 0x6c, 0x6c, {"Ice Lake", 64, 2048}},
	{"GenuineIntel", 6, 0x7d, 0x7e, {"Ice Lake", 64, 2048}},
	{"GenuineIntel", 6, 0x8c, 0x8d, {"Tiger Lake", 64, 2048}},
	{"GenuineIntel", 6, 0x8f, 0x8f, {"Sapphire Rapids", 96, 2048}},
	{"GenuineIntel", 6, 0xcf, 0xcf, {"Emerald Rapids", 96, 2048}},
	{"GenuineIntel", 6, 0x97, 0x97, {"Alder Lake", 96, 2048}},
	{"GenuineIntel", 6, 0x9a, 0x9a, {"Alder Lake", 96, 2048}},
	{"GenuineIntel", 6, 0xb7, 0xb7, {"Raptor Lake", 96, 2048}},
	{"GenuineIntel", 6, 0xba, 0xba, {"Raptor Lake", 96, 2048}},
	{"GenuineIntel", 6, 0xbf, 0xbf, {"Raptor Lake", 96, 2048}},
};

static const LodeTlbSizes any = {"any", 96, 4096};

const LodeTlbSizes *lode_tlb_sizes_of(const char *processor)
{
	char vendor[16];
	unsigned family, model;

	if (processor == NULL || sscanf(processor, "%15[^,],%u,%u", vendor, &family, &model) != 3)
		return &any;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (strcmp(rows[i].vendor, vendor) == 0 && rows[i].family == family &&
			model >= rows[i].least && model <= rows[i].most)
			return &rows[i].sizes;
	return &any;
}
