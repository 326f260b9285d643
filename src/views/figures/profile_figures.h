/* SPDX-License-Identifier: MIT */
/* Figures of a whole profile that several views show. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeMiningRun LodeMiningRun;
typedef struct LodeProfile LodeProfile;
typedef struct LodeUnresolved LodeUnresolved;

/* The event a run weighs by: its own, else the profile's; LODE_NONE when there is none. */
uint32_t lode_profile_weight_of(const LodeProfile *profile, const LodeMiningRun *run);

const char *lode_profile_event_name(const LodeProfile *profile, uint32_t event); /* NULL: none */
double lode_profile_event_total(const LodeProfile *profile, uint32_t event);     /* 0: none */

/* part / whole; 0 when there is no whole. */
double lode_share_of(double part, double whole);

/* An event's value on each image. The caller unrefs the GArray of double. */
GArray *lode_profile_image_values(const LodeProfile *profile, uint32_t event);

/* The function with most of an event and its value; LODE_NONE when there is none. */
uint32_t lode_profile_hottest_function(
	const LodeProfile *profile, uint32_t event, double *out_value);

/*
 * A recording notes in one text what made it and which caches and branch predictor it simulated:
 * "qemu-x86_64, through i1=32K:8:64, branches by tage and perf.data of perf 6.1". The one without
 * the other: "qemu-x86_64 and perf.data of perf 6.1"; what was simulated. NULL: nothing is known.
 * The caller frees them.
 */
char *lode_profile_tool(const LodeProfile *profile);
char *lode_profile_simulated(const LodeProfile *profile);

/* How a program was sampled, and why, a sentence; NULL: by perf events at one rate all the time.
 * The caller frees it. */
char *lode_profile_sampling(const LodeProfile *profile);

/* Edges of both kinds: rows, and those to the next instruction. */
uint64_t lode_profile_count_edges(const LodeProfile *profile);

/* The share of the profile's weight, or of its executions when it has no weight. */
double lode_profile_unresolved_share(const LodeProfile *profile, const LodeUnresolved *row);

/* "12 executions, 3 places": what a reason concerns. The caller frees it. */
char *lode_profile_unresolved_extent(const LodeUnresolved *row);
