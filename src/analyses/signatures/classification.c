/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/classification.h"

#include "analyses/signatures/mixture_shares.h"
#include "analyses/signatures/signature_distance.h"
#include "analyses/signatures/unknown_places.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/profile.h"

#include <math.h>

/* bench/results/classify.md says what each was chosen on. */
static const double is_rest_of_mixture = 0.05; /* unknown work, beside what is known */

LODE_ORDER(compare_matches, LodeSignatureMatch, LODE_ASCENDING(distance), LODE_ASCENDING(signature))

static void clear_match(void *data)
{
	LodeSignatureMatch *match = data;

	for (uint32_t i = 0; i < match->n_for; i++)
		g_free(match->evidence_for[i].text);
	for (uint32_t i = 0; i < match->n_against; i++)
		g_free(match->evidence_against[i].text);
}

static void decide(LodeClassifying *self, const LodeSignatureMatch *matches)
{
	LodeClassification *result = self->result;
	uint32_t n_groups = 0, largest = 0, nearest = 0;

	for (guint j = 0; j < self->signatures->len; j++) {
		n_groups += matches[j].group == j && matches[j].group_share > 0;
		if (matches[j].share > matches[largest].share)
			largest = j;
		if (matches[j].distance < matches[nearest].distance)
			nearest = j;
	}
	result->is_few = self->profile->frequency == LODE_FREQUENCY_INFERRED &&
	                 self->profile->n_samples > 0 &&
	                 self->profile->n_samples < LODE_CLASSIFIED_SAMPLES;
	/* Places that are taken out of known work leave the remainder farther than the whole. */
	uint32_t alone = n_groups == 0 ? nearest : largest;
	if (n_groups == 0 || (n_groups == 1 && result->distance > result->limit)) {
		result->distance = matches[alone].distance;
		result->limit = matches[alone].limit;
	}
	bool is_near = !result->is_few && result->distance <= result->limit;
	bool is_whole = result->rest_share < is_rest_of_mixture;
	result->nearest = is_near && is_whole && n_groups == 1 ? largest : LODE_NONE;
	result->is_mixture = result->nearest == LODE_NONE && is_near && n_groups > 0;
}

static void match_all(LodeClassifying *self, const LodeProgress *progress)
{
	guint n = self->signatures->len;
	g_autofree LodeSignatureMatch *matches = g_new0(LodeSignatureMatch, n);
	g_autofree bool *may_have = lode_classifying_all(self);
	g_auto(LodeSequenceFit) fit = {0};

	lode_signature_limits_find(self);
	lode_sequence_fit_init(&fit, self, LODE_SEQUENCES_OPCODES, LODE_NONE);
	lode_sequence_fit_shares(&fit, least_share, may_have);
	lode_unknown_places_find(self, &fit);
	lode_mixture_shares_find(self, matches);
	for (guint j = 0; j < n && !lode_progress_is_cancelled(progress); j++) {
		matches[j].signature = j;
		matches[j].distance = lode_signature_distance(self, j);
		matches[j].limit = self->limits[j];
		matches[j].explained = lode_sequence_fit_explained(&fit, j);
		lode_signature_evidence_find(self, j, &matches[j]);
		lode_progress_report(progress, "comparing with signatures", j, n, NULL);
	}
	decide(self, matches);
	g_array_append_vals(self->result->matches, matches, n);
	g_array_sort(self->result->matches, compare_matches);
}

/* The part whose code is known, of the time where shares are, else of the executions. */
static double covered_part(const LodeClassifying *self)
{
	double sum = 0;

	for (uint32_t i = 0; i < self->profile->instructions->len && self->weights != NULL; i++)
		sum += self->weights[i];
	if (self->weights == NULL)
		sum = self->profile->total_count > 0
		              ? self->executed->total / self->profile->total_count
		              : 1;
	return MIN(sum, 1);
}

static LodeClassification *classification_new(void)
{
	LodeClassification *self = g_new0(LodeClassification, 1);

	self->matches = g_array_new(FALSE, FALSE, sizeof(LodeSignatureMatch));
	g_array_set_clear_func(self->matches, clear_match);
	self->places = g_array_new(FALSE, FALSE, sizeof(LodeUnknownPlace));
	return self;
}

void lode_classification_free(LodeClassification *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->matches);
	g_array_unref(self->places);
	g_free(self);
}

LodeClassification *lode_classify(const LodeProfile *profile, const GPtrArray *signatures,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeClassification) result = classification_new();
	LodeClassifying self = {
		.profile = profile,
		.signatures = signatures,
		.symbols = lode_symbols_new(),
		.models = g_new0(LodeSignatureModel, signatures->len + 1),
		.result = result,
	};
	bool is_prepared = lode_classifying_init(&self, error);

	if (is_prepared) {
		result->executions = self.executed->total;
		result->covered = covered_part(&self);
		match_all(&self, progress);
	}
	for (guint j = 0; j < signatures->len; j++)
		lode_signature_model_clear(&self.models[j]);
	lode_classifying_clear(&self);
	lode_symbols_free(self.symbols);
	g_free(self.models);
	if (!is_prepared)
		return NULL;
	if (lode_progress_is_cancelled(progress)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return NULL;
	}
	return g_steal_pointer(&result);
}

/* The error of k of n samples, √(k·(1 − k/n)); with the share for k/n, and one sample at least. */
double lode_unknown_place_error(const LodeUnknownPlace *self)
{
	return self->samples >= 0 ? self->executions * sqrt((1 - MIN(self->executions, 1)) /
							       MAX(self->samples, 1))
	                          : NAN;
}

const LodeSignatureMatch *lode_classification_match(
	const LodeClassification *self, uint32_t signature)
{
	for (guint i = 0; i < self->matches->len; i++) {
		const LodeSignatureMatch *match = &LODE_AT(self->matches, LodeSignatureMatch, i);
		if (match->signature == signature)
			return match;
	}
	return NULL;
}
