/* SPDX-License-Identifier: MIT */
/*
 * Bounds what it costs to record context switches. Each takes half a microsecond of the program's
 * time and 40 bytes: next to nothing for most programs, a tenth of the time of one whose threads
 * wake each other a hundred thousand times a second. There they are recorded for a part of the
 * time, and samples of the other part have no known number of threads that ran.
 *
 *   allowance  ╲    ╱╲    ╱╲    ╱       grows with time, shrinks by records
 *   recorded   ──╲__╱──╲__╱──╲__╱
 *
 * Mappings of data, which cost three times as much each, have their part of it: a program that maps
 * and frees 150,000 times a second took a fifth more time.
 *
 * A timer that samples costs more: where switches are dense, by those that are recorded, the
 * program is sampled in slices (sample_slices.h).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	double allowance; /* records */
	gint64 since_us;
	bool is_over;   /* nothing is to be recorded at present */
	bool are_dense; /* the last that were recorded… */
	double rate;    /* …so many a second */
	uint64_t n;     /* records… */
	gint64 n_us;    /* …in so much of the time in which they were recorded */
} LodeSwitchBudget;

enum {
	LODE_SWITCHES_PER_SECOND = 10000, /* records: a switch has two */
	LODE_SWITCHES_AT_ONCE = 5 * LODE_SWITCHES_PER_SECOND,
	/* Records: from here on switches are dense, and below half of it no longer. */
	LODE_SWITCHES_DENSE = 6000,
};

void lode_switch_budget_init(LodeSwitchBudget *self, gint64 now_us);

/* The program's time that a record of a switch takes. One of a mapping, with its path, takes as
 * much as so many of them, and so does a sample of a switch or of a wake-up, on average. */
#define LODE_SWITCH_RECORD_NS 500.0
#define LODE_MAPPING_RECORDS 3.0
#define LODE_SWITCH_SAMPLE_RECORDS 4.0

/* Takes off what is recorded besides, as so many records of switches. */
void lode_switch_budget_charge(LodeSwitchBudget *self, double n_records);

/* Takes the records since the last call. Gives whether switches are to be recorded from now on. */
bool lode_switch_budget_take(LodeSwitchBudget *self, uint64_t n_records, gint64 now_us);
