/* SPDX-License-Identifier: MIT */
/*
 * How many bytes one thread of this machine reads and writes in a nanosecond, from each level of
 * its caches and from memory, measured: runs of loads, or of stores, over a buffer of half a
 * level's size, of four times the last one's for memory. The best of several counts, as in J. D.
 * McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers", 1995
 * (STREAM). Stored bytes count once, whatever the caches fetch before.
 */
#pragma once

#include "machine/machine_figures.h"

/* "l1", "l2", "l3", "memory". */
const char *lode_rate_level_name(LodeRateLevel level);

/* Measures, which takes a tenth of a second. */
LodeMemoryRates lode_memory_rates_measure(void);

/*
 * As measured on this machine within the last week, or measured now and kept in `path` (NULL: in
 * the user's cache directory, lode/memory-rates.ini) if that can be written. A file that is
 * damaged, or of a machine with another processor, is as none.
 */
LodeMemoryRates lode_memory_rates_of_machine(const char *path);
