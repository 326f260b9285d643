/* SPDX-License-Identifier: MIT */
/*
 * What a classification works on: the profile, the signatures, and which files they execute.
 * Private to analyses/signatures/.
 */
#pragma once

#include "analyses/signatures/classification.h"
#include "analyses/signatures/executed_sequences.h"
#include "analyses/signatures/signature_model.h"

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
