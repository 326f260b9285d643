/* SPDX-License-Identifier: MIT */
/* A signature as a distribution over all sequences, listed or not. Private to analyses/signatures/.
 */
#pragma once

#include "analyses/signatures/sequence_table.h"

typedef struct LodeSignatureModel {
	const LodeSignature *signature; /* borrowed */
	LodeSequenceTable supports[LODE_N_SEQUENCE_KINDS];
	LodeSequenceTable deviations[LODE_N_SEQUENCE_KINDS];
	double listed[LODE_N_SEQUENCE_KINDS][LODE_SIGNATURE_LENGTHS]; /* Σ supports */
} LodeSignatureModel;

/* Adds the signature's symbols. Errors: _LIMIT (too many). */
bool lode_signature_model_init(LodeSignatureModel *self, const LodeSignature *signature,
	LodeSymbols *symbols, GError **error);
void lode_signature_model_clear(LodeSignatureModel *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeSignatureModel, lode_signature_model_clear)

/*
 * The support of a sequence. One that is not listed is made of its parts as a Markov chain would:
 * s(abcd) = s(abc)·s(bcd)/s(bc), and so on down to single symbols; it is at most min_support, below
 * which nothing is listed. Sums over unlisted sequences may exceed their remainder.
 */
double lode_signature_model_support(
	const LodeSignatureModel *self, LodeSequenceKind kind, uint64_t key);
