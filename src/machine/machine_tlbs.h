/* SPDX-License-Identifier: MIT */
/*
 * The TLBs of data of a processor, for pages of 4 KiB: from CPUID, or, where a hypervisor hides
 * them there, from a table by the family of the processor:
 *
 *   AMD      functions 8000_0005h, 8000_0006h, 8000_0021h (the unit of the numbers)
 *   Intel    leaf 18h; leaf 2 up to Skylake
 *
 * Sources: AMD64 Architecture Programmer's Manual volume 3; Intel 64 and IA-32 Architectures
 * Software Developer's Manual, volume 2A. The table: tlb_sizes.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint32_t n_entries, n_ways; /* 0: none; of entries ∕ ways sets, a power of two */
} LodeTlb;

typedef struct {
	LodeTlb first, second;
} LodeMachineTlbs;

/* EAX, EBX, ECX, EDX of a leaf and subleaf; all 0 where there is no such leaf. */
typedef void (*LodeCpuidFunc)(uint32_t leaf, uint32_t subleaf, uint32_t out[4], void *data);

/* False: not known. */
bool lode_machine_tlbs_of(LodeMachineTlbs *self, LodeCpuidFunc cpuid, void *data);

/* Those of this machine. */
bool lode_machine_tlbs_init(LodeMachineTlbs *self);
