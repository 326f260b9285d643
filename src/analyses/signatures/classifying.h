/* SPDX-License-Identifier: MIT */
/*
 * What a classification works on: the profile, the signatures, and which files they execute.
 * Private to analyses/signatures/.
 */
#pragma once

#include "analyses/signatures/classification.h"
#include "analyses/signatures/executed_sequences.h"
#include "analyses/signatures/mixture.h"

typedef struct LodeSignatureModel LodeSignatureModel;

/* bench/results/classify.md says what each was chosen on. */
static const double least_share = 0.02; /* a mixture has no component with less */
static const double least_rest = 0.02;  /* of the executions, in places: less is not reported */

typedef struct {
	const LodeProfile *profile;
	const GPtrArray *signatures;
	LodeSymbols *symbols;
	LodeSignatureModel *models;
	LodeExecutedSequences *executed;
	LodeSequenceTable supports[LODE_N_SEQUENCE_KINDS];
	double totals[LODE_N_SEQUENCE_KINDS][LODE_SIGNATURE_LENGTHS];
	uint32_t *vertex_images; /* of each vertex of the flow graph */
	bool *is_new_image;      /* a file that no signature has */
	bool *is_common;         /* a file that all have; none, where a signature has no other */
	double *file_shares;     /* [images][signatures]: of its executions in that file */
	double *limits;          /* of each signature */
	double *own;             /* of each: its part in files that are not common */
	double *weights; /* of each instruction, its share; NULL: executions are not inferred */
	LodeClassification *result;
} LodeClassifying;

/* Counts what the profile executes. `profile`, `signatures`, `symbols`, `models` and `result` are
 * set. Errors: those of lode_classify(). */
bool lode_classifying_init(LodeClassifying *self, GError **error);
void lode_classifying_clear(LodeClassifying *self);

const LodeSignature *lode_classifying_signature(const LodeClassifying *self, guint index);

/* The share of a signature's executions in a file of the profile; 0: it has no such file. */
double lode_classifying_file_share(const LodeClassifying *self, guint j, guint image);

/* [signatures + 1], all true. The caller frees it. */
bool *lode_classifying_all(const LodeClassifying *self);

/* Paths of one image or of all, summed for each. */
typedef struct {
	const uint32_t *vertex_images;
	uint32_t image;            /* LODE_NONE: all */
	LodeSequenceTable *tables; /* of each image */
	bool is_one_table;         /* one of all instead */
	double totals[LODE_SIGNATURE_LENGTHS];
} LodeClassifiedPart;

/* For lode_executed_sequences_visit(). */
void lode_classified_part_add(
	const uint32_t *vertices, unsigned n, uint64_t key, double count, void *user_data);

/*
 * The shares of signatures in the sequences that a profile executes in its files
 * (docs/use/classify.md §4).
 */

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

/*
 * How far a profile is from a signature or from a mixture of several, how far it may be, and which
 * sequences say so (docs/use/classify.md §3).
 */

/* The root mean divergence of the profile and a signature. */
double lode_signature_distance(const LodeClassifying *self, guint j);

/* Sets `limits`. */
void lode_signature_limits_find(LodeClassifying *self);

/*
 * How far the executions of an image, or of all, are from a mixture, and by its parts' limits may
 * be: the Jensen-Shannon divergence is convex in both distributions together (J. Lin, "Divergence
 * Measures Based on the Shannon Entropy", 1991), so that a mixture's square is at most the mean of
 * the squares of its parts.
 */
typedef struct {
	double distance, limit;
} LodeMixtureDistance;

/* `shares` of the signatures and the rest, which is left out. `image`: LODE_NONE for all. */
LodeMixtureDistance lode_mixture_distance(
	const LodeClassifying *self, const double *shares, uint32_t image);

/* Whether two signatures are within the larger of their limits of each other: the root mean
 * divergence over the sequences of the first and all else. */
bool lode_signatures_are_alike(const LodeClassifying *self, guint a, guint b);

/* For: what both have and the other signatures have less of. Against: what adds to the distance. */
void lode_signature_evidence_find(const LodeClassifying *self, guint j, LodeSignatureMatch *match);
