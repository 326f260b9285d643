/* SPDX-License-Identifier: MIT */
/* Profiles of one workload → its signature: means and variances of the supports of their sequences.
 */
#pragma once

#include "analyses/signatures/executed_sequences.h"

typedef struct LodeSignatureBuilder LodeSignatureBuilder;

/* `attributes`: namespaces of the sequences of attributes, "kind,mem"; copied. */
LodeSignatureBuilder *lode_signature_builder_new(const char *attributes);
void lode_signature_builder_free(LodeSignatureBuilder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSignatureBuilder, lode_signature_builder_free)

/* Adds a profile. Errors: as lode_executed_sequences_new(), and _USAGE where its executions are not
 * known in the same way (counted, inferred…) as those of the profiles before. */
bool lode_signature_builder_add(
	LodeSignatureBuilder *self, const LodeProfile *profile, GError **error);

/*
 * The signature of the added profiles, at least one: sequences whose mean support is `min_support`
 * or more. `units`: of work that each profile did; 0: not known. Errors: _USAGE (units, but a
 * profile without processor time).
 */
LodeSignature *lode_signature_builder_finish(LodeSignatureBuilder *self, const char *name,
	double min_support, double units, GError **error);
