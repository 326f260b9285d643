/* SPDX-License-Identifier: MIT */
/*
 * Which known workloads a profile is, alone or mixed, and which of its code belongs to none
 * (docs/use/classify.md). Distances are root mean Jensen-Shannon divergences over the kinds and
 * lengths of sequences; shares are those of a mixture of multinomials (mixture.h).
 */
#pragma once

#include "base/progress.h"
#include "model/mined/signature.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

enum {
	LODE_EVIDENCE_MAX = 5,
	LODE_CLASSIFIED_SAMPLES = 50, /* with fewer, no profile is called unknown */
};

/* A sequence that speaks for a signature or against it. */
typedef struct {
	char *text;
	LodeSequenceKind kind;
	double in_profile, in_signature; /* supports */
	double bits;                     /* how much it says; > 0 */
} LodeEvidence;

typedef struct {
	uint32_t signature; /* index of the signatures */
	double distance;    /* 0 … 1 */
	double limit;       /* up to this it may be the same work, by the signature's variances */
	double explained;   /* share of the executions whose sequences this signature alone has */
	double share;       /* with all signatures: of the time or of the executions (is_time) */
	double share_error; /* half of the 95 % interval of the share */
	/* Signatures whose shares cannot be told apart have the first one's index here. */
	uint32_t group;
	double group_share, group_error; /* of these together; of the signature where it is alone */
	LodeEvidence evidence_for[LODE_EVIDENCE_MAX], evidence_against[LODE_EVIDENCE_MAX];
	uint32_t n_for, n_against;
} LodeSignatureMatch;

/* A function that executes what no signature has. */
typedef struct {
	uint32_t function, graph; /* in the profile, in the flow graph that is classified */
	uint64_t address, end;    /* its block with most of it; both 0: blocks are not known */
	double executions;        /* of the function, as a share of all */
	double rest, block_rest;  /* shares of all in sequences that no signature has */
	double samples;   /* that fell into it; −1: executions are not inferred from samples */
	bool is_new_file; /* its file is in no signature, nor is its code like theirs */
} LodeUnknownPlace;

typedef struct {
	GArray *matches;    /* LodeSignatureMatch, by rising distance */
	GArray *places;     /* LodeUnknownPlace: in new files first, then by falling executions */
	uint32_t nearest;   /* signature that the profile is; LODE_NONE: none of these, or mixed */
	bool is_mixture;    /* of two signatures or more, or of one and the rest */
	double distance;    /* of all but `places` from the fitted mixture, 0 … 1 */
	double limit;       /* up to this it may be that mixture */
	bool is_few;        /* too few samples to say */
	bool is_time;       /* shares are of the samples' time, where executions are inferred */
	double rest_share;  /* of what is unknown: the shares and this add up to 1 */
	double rest_error;  /* half of its 95 % interval */
	double rest;        /* share of the executions that no signature explains */
	double rest_placed; /* of it, executions of `places`; the remainder is scattered */
	bool has_rest;      /* the places are more than inputs of one workload differ by */
	double executions;  /* that have opcodes */
	double covered;     /* their share of all of the profile */
} LodeClassification;

/*
 * `signatures`: GPtrArray of LodeSignature, at least one, with the same attributes. Errors: _USAGE
 * (attributes that differ), _UNSUPPORTED (no opcodes), _LIMIT, _CANCELLED. The caller owns the
 * result.
 */
LodeClassification *lode_classify(const LodeProfile *profile, const GPtrArray *signatures,
	const LodeProgress *progress, GError **error);
void lode_classification_free(LodeClassification *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeClassification, lode_classification_free)

/* The standard error of a place's executions, by its samples; NAN where they are not inferred. */
double lode_unknown_place_error(const LodeUnknownPlace *self);

/* The match of a signature. */
const LodeSignatureMatch *lode_classification_match(
	const LodeClassification *self, uint32_t signature);
