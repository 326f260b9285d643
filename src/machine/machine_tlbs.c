/* SPDX-License-Identifier: MIT */
#include "machine/machine_tlbs.h"

#include "machine/tlb_sizes.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum { EAX, EBX, ECX, EDX };
enum { AMD_FIRST = 0x80000005, AMD_SECOND = 0x80000006, AMD_UNITS = 0x80000021 };

typedef struct {
	LodeCpuidFunc cpuid;
	void *data;
} Processor;

static void ask(const Processor *self, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	memset(out, 0, 4 * sizeof(*out));
	self->cpuid(leaf, subleaf, out, self->data);
}

static bool is_usable(const LodeTlb *tlb)
{
	uint32_t sets = tlb->n_ways > 0 ? tlb->n_entries / tlb->n_ways : 0;

	return sets > 0 && sets * tlb->n_ways == tlb->n_entries && (sets & (sets - 1)) == 0;
}

static void read_amd(const Processor *self, LodeMachineTlbs *out)
{
	static const uint8_t ways[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0};
	enum { FULL = 255, FULL_CODE = 15, UNIT_BIT = 14, UNIT = 32 };
	uint32_t words[4], units[4];

	ask(self, AMD_FIRST, 0, words);
	out->first.n_entries = words[EBX] >> 16 & 0xff;
	out->first.n_ways = words[EBX] >> 24 == FULL ? out->first.n_entries : words[EBX] >> 24;
	ask(self, AMD_UNITS, 0, units);
	ask(self, AMD_SECOND, 0, words);
	out->second.n_entries = (words[EBX] >> 16 & 0xfff) *
	                        ((units[EAX] >> UNIT_BIT & 1) != 0 ? UNIT : 1);
	out->second.n_ways = words[EBX] >> 28 == FULL_CODE ? out->second.n_entries
	                                                   : ways[words[EBX] >> 28];
}

/* Leaf 18h: a subleaf each; the first says how many there are. */
static void read_intel(const Processor *self, LodeMachineTlbs *out)
{
	enum { MAX_SUBLEAVES = 64, DATA = 1, UNIFIED = 3, LOADS = 4 };
	uint32_t words[4], last = 0;

	for (uint32_t i = 0; i <= last && i < MAX_SUBLEAVES; i++) {
		ask(self, 0x18, i, words);
		uint32_t type = words[EDX] & 31, level = words[EDX] >> 5 & 7;
		bool is_data = type == DATA || type == UNIFIED || type == LOADS;
		const LodeTlb tlb = {(words[EBX] >> 16) * words[ECX], words[EBX] >> 16};
		last = i == 0 ? words[EAX] : last;
		if (!is_data || (words[EBX] & 1) == 0 || words[ECX] > UINT16_MAX)
			continue;
		if (level == 1)
			out->first = tlb;
		else if (level == 2)
			out->second = tlb;
	}
}

/* Leaf 2: a byte for each cache and TLB, which mean what a table says. */
static void read_descriptors(const Processor *self, LodeMachineTlbs *out)
{
	static const struct {
		uint8_t byte;
		bool is_second;
		LodeTlb tlb;
	} known[] = {
		{0x03, false, {64, 4}},
		{0xb3, false, {128, 4}},
		{0xba, false, {64, 4}},
		{0xa0, false, {32, 32}},
		{0xb4, false, {256, 4}},
		{0xca, true, {512, 4}},
		{0xc1, true, {1024, 8}},
		{0xc3, true, {1536, 6}},
	};
	uint32_t words[4];

	ask(self, 2, 0, words);
	for (unsigned i = 1; i < 16; i++) {
		uint8_t byte = (uint8_t)(words[i / 4] >> i % 4 * 8);
		for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
			bool is_valid = words[i / 4] >> 31 == 0 && known[k].byte == byte;
			if (is_valid && known[k].is_second)
				out->second = known[k].tlb;
			else if (is_valid)
				out->first = known[k].tlb;
		}
	}
}

static void read_family(const Processor *self, const char *maker, LodeMachineTlbs *out)
{
	enum { EXTENDED = 15, OLD_INTEL = 6 };
	uint32_t words[4];

	ask(self, 1, 0, words);
	uint32_t family = words[EAX] >> 8 & 15, model = words[EAX] >> 4 & 15;
	if (family == EXTENDED || family == OLD_INTEL)
		model += (words[EAX] >> 16 & 15) << 4;
	if (family == EXTENDED)
		family += words[EAX] >> 20 & 0xff;
	g_autofree char *processor = g_strdup_printf("%s,%u,%u,0", maker, family, model);
	const LodeTlbSizes *sizes = lode_tlb_sizes_of(processor);
	if (strcmp(sizes->family, "any") == 0)
		return;
	/* AMD's first ones are fully associative, Intel's have 16 sets */
	out->first = (LodeTlb){sizes->first,
		strcmp(maker, "AuthenticAMD") == 0 ? sizes->first : sizes->first / 16};
	out->second = (LodeTlb){sizes->second, sizes->second / (sizes->second < 4096 ? 128 : 256)};
}

bool lode_machine_tlbs_of(LodeMachineTlbs *self, LodeCpuidFunc cpuid, void *data)
{
	enum { LEAST_SECOND = 256 };
	const Processor processor = {cpuid, data};
	LodeMachineTlbs found = {0};
	uint32_t words[4];
	char maker[13] = "";

	ask(&processor, 0, 0, words);
	memcpy(maker, &words[EBX], sizeof(uint32_t));
	memcpy(maker + 4, &words[EDX], sizeof(uint32_t));
	memcpy(maker + 8, &words[ECX], sizeof(uint32_t));
	bool is_intel = strcmp(maker, "GenuineIntel") == 0;
	if (!is_intel)
		read_amd(&processor, &found);
	else if (words[EAX] >= 0x18)
		read_intel(&processor, &found);
	if (is_intel && found.first.n_entries == 0)
		read_descriptors(&processor, &found);
	/* a hypervisor may hide the unit of AMD's numbers: no second TLB is so small */
	if (!is_usable(&found.first) || found.second.n_entries < LEAST_SECOND)
		read_family(&processor, maker, &found);
	if (!is_usable(&found.first))
		return false;
	if (!is_usable(&found.second) || found.second.n_entries < LEAST_SECOND)
		found.second = (LodeTlb){0};
	*self = found;
	return true;
}

#if defined(__x86_64__) || defined(__i386__)
static void ask_this(uint32_t leaf, uint32_t subleaf, uint32_t out[4], void *data)
{
	(void)data;
	if (!__get_cpuid_count(leaf, subleaf, &out[EAX], &out[EBX], &out[ECX], &out[EDX]))
		memset(out, 0, 4 * sizeof(*out));
}

bool lode_machine_tlbs_init(LodeMachineTlbs *self)
{
	return lode_machine_tlbs_of(self, ask_this, NULL);
}
#else
bool lode_machine_tlbs_init(LodeMachineTlbs *self)
{
	(void)self;
	return false;
}
#endif
