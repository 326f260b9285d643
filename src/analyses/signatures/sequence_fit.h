/* SPDX-License-Identifier: MIT */
/*
 * The shares of signatures in the sequences that a profile executes in its files
 * (docs/use/classify.md §4). Private to analyses/signatures/.
 */
#pragma once

#include "analyses/signatures/classifying.h"
#include "analyses/signatures/mixture.h"

/*
 * The longest sequences of a kind in each file of the profile (or in one), and what each signature
 * gives to them. So code of a file that one workload alone executes is this workload's, however
 * common its sequences are.
 */
typedef struct {
	LodeMixture mixture;
	unsigned length;
	double *observed, *expected;
	double *shares;             /* [components + 1] */
	LodeSequenceTable *indexes; /* [n_images] */
	guint n_images;
	GArray *items, *item_images; /* LodeSequenceValue, uint32_t */
} LodeSequenceFit;

/* Items are sequences in files; `image` LODE_NONE: in all. */
void lode_sequence_fit_init(
	LodeSequenceFit *self, const LodeClassifying *classifying, unsigned kind, uint32_t image);
void lode_sequence_fit_clear(LodeSequenceFit *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeSequenceFit, lode_sequence_fit_clear)

/*
 * Components with less than `least_part` are left out, the least first, and the rest is fitted
 * anew. Components to which a rough fit gives next to nothing are left out at once: with many
 * signatures, most.
 */
void lode_sequence_fit_shares(LodeSequenceFit *self, double least_part, bool *may_have);

/* The share of one signature, where only it and unknown code are fitted. */
double lode_sequence_fit_explained(const LodeSequenceFit *self, guint j);

/*
 * Adds for each vertex the executions of the paths over it, and what of these is of a component
 * (n_components: the rest).
 */
void lode_sequence_fit_cover(const LodeSequenceFit *self, const LodeClassifying *classifying,
	size_t component, double *all, double *part);
