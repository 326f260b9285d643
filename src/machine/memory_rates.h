/* SPDX-License-Identifier: MIT */
/*
 * How many bytes one thread of this machine reads and writes in a nanosecond, from each level of
 * its caches and from memory, measured: runs of loads, or of stores, over a buffer of half a
 * level's size, of four times the last one's for memory. The best of several counts, as in J. D.
 * McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers", 1995
 * (STREAM). Stored bytes count once, whatever the caches fetch before.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum {
	LODE_RATE_L1,
	LODE_RATE_L2,
	LODE_RATE_L3,
	LODE_RATE_MEMORY,
	LODE_N_RATES,
} LodeRateLevel;

/* "l1", "l2", "l3", "memory". */
const char *lode_rate_level_name(LodeRateLevel level);

/* Bytes per nanosecond; 0: the machine has no such level, or it is not known. */
typedef struct {
	double read[LODE_N_RATES], write[LODE_N_RATES];
} LodeMemoryRates;

/* Measures, which takes a tenth of a second. */
LodeMemoryRates lode_memory_rates_measure(void);

/*
 * As measured on this machine within the last week, or measured now and kept in `path` (NULL: in
 * the user's cache directory, lode/memory-rates.ini) if that can be written. A file that is
 * damaged, or of a machine with another processor, is as none.
 */
LodeMemoryRates lode_memory_rates_of_machine(const char *path);
