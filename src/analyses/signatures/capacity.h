/* SPDX-License-Identifier: MIT */
/*
 * How much of a machine each kind of work takes, by signatures measured at known work, and how much
 * more of it fits: a linear model, docs/use/classify.md §7.
 */
#pragma once

#include "analyses/signatures/classification.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	double elapsed_seconds; /* in which the profile was recorded; > 0 */
	double processors;      /* of the machine; > 0 */
} LodeCapacityOptions;

typedef struct {
	uint32_t signature;        /* LODE_NONE: what no signature explains */
	double share, share_error; /* of the machine's processor time */
	double rate, rate_error;   /* units of work a second; 0: not known */
	double most,
		most_error; /* the rate at which time is used up, if this alone grows; likewise */
} LodeCapacityRow;

typedef struct {
	GArray *rows;          /* LodeCapacityRow, by falling share; the rest last */
	double used;           /* share of the machine */
	double growth;         /* by what all kinds together may grow until time is used up */
	bool is_by_executions; /* shares are of executions, and a signature lacks its time per
	                          execution, so that all count as equal */
} LodeCapacity;

/* Errors: _USAGE (a profile without processor time). */
bool lode_capacity_find(const LodeProfile *profile, const GPtrArray *signatures,
	const LodeClassification *found, const LodeCapacityOptions *options, LodeCapacity *out,
	GError **error);
void lode_capacity_clear(LodeCapacity *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeCapacity, lode_capacity_clear)
