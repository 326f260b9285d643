/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/classifying.h"

#include "analyses/signatures/signature_model.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/run/program_run.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* bench/results/classify.md says what each was chosen on. */
static const double limit_factor = 2.5;   /* spreads that a distance may have */
static const double least_limit = 0.05;   /* however little the profiles of a signature vary */
static const double most_limit = 0.35;    /* however much: beyond are programs of another kind */
static const double chance_factor = 0.25; /* of the chance of samples: sequences overlap */
static const double most_limit_of_few = 0.42; /* with the chance of few samples */
static const double usual_spread = 0.08;      /* where no signature is of two profiles */

/* One sequence's part of the divergence in bits; p and q ≥ 0. */
static double divergence(double p, double q)
{
	double middle = (p + q) / 2, sum = 0;

	if (p > 0)
		sum += p * log2(p / middle);
	if (q > 0)
		sum += q * log2(q / middle);
	return MAX(sum / 2, 0);
}

/*
 * Over the sequences that the signature lists, and one for all else (other sequences, and where a
 * function ends before there are so many instructions): to put outcomes together never makes a
 * divergence larger.
 */
static double divergence_of(const LodeClassifying *self, guint j, unsigned kind, unsigned length)
{
	const LodeSignatureModel *model = &self->models[j];
	const GArray *sequences = model->signature->sequences[kind][length];
	double sum = 0, in_profile = 0;

	for (guint i = 0; i < sequences->len; i++) {
		const LodeSignatureSequence *one = &LODE_AT(sequences, LodeSignatureSequence, i);
		uint64_t key = lode_symbols_key(self->symbols, one->text);
		double p = lode_sequence_table_get(&self->supports[kind], key, 0);
		sum += divergence(p, one->support);
		in_profile += p;
	}
	return sum + divergence(MAX(1 - in_profile, 0), MAX(1 - model->listed[kind][length], 0));
}

double lode_signature_distance(const LodeClassifying *self, guint j)
{
	double sum = 0;

	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned length = 0; length < LODE_SIGNATURE_LENGTHS; length++)
			sum += divergence_of(self, j, kind, length);
	return sqrt(sum / (LODE_N_SEQUENCE_KINDS * LODE_SIGNATURE_LENGTHS));
}

/*
 * The distance that a further profile of the same workload has from the mean, squared, as its
 * variances have it: near q, the divergence is (p − q)²/(8·ln 2·q), and E(p − q)² = variance·(1 +
 * 1/n).
 */
static double spread_of(const LodeSignature *signature)
{
	double sum = 0;

	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned length = 0; length < LODE_SIGNATURE_LENGTHS; length++) {
			const GArray *sequences = signature->sequences[kind][length];
			for (guint i = 0; i < sequences->len; i++) {
				const LodeSignatureSequence *one = &LODE_AT(
					sequences, LodeSignatureSequence, i);
				sum += one->deviation * one->deviation / one->support;
			}
		}
	return sum * (1 + 1.0 / signature->n_profiles) /
	       (8 * G_LN2 * LODE_N_SEQUENCE_KINDS * LODE_SIGNATURE_LENGTHS);
}

/*
 * A few profiles estimate their variance poorly: that of all signatures together counts as two
 * more. For a single profile it is the only one.
 */
void lode_signature_limits_find(LodeClassifying *self)
{
	double sum = 0, degrees = 0;

	for (guint j = 0; j < self->signatures->len; j++) {
		const LodeSignature *signature = lode_classifying_signature(self, j);
		sum += spread_of(signature) * (signature->n_profiles - 1);
		degrees += signature->n_profiles - 1;
	}
	double common = degrees > 0 ? sum / degrees : usual_spread * usual_spread;
	for (guint j = 0; j < self->signatures->len; j++) {
		const LodeSignature *signature = lode_classifying_signature(self, j);
		double own = signature->n_profiles - 1;
		double spread = (spread_of(signature) * own + common * 2) / (own + 2);
		self->limits[j] = CLAMP(limit_factor * sqrt(spread), least_limit, most_limit);
	}
}

/* Also adds to `noise` what the divergence is expected to be by chance, for that many samples:
 * 1/(8·ln 2·samples) for each sequence, and at most s/2, which is all of it. */
static double divergence_of_mixture(const LodeClassifying *self, const double *shares,
	unsigned kind, const LodeSequenceTable *observed, double total, double samples,
	double *noise)
{
	LodeSequenceTable expected = {0};
	double listed[LODE_SIGNATURE_LENGTHS] = {0}, seen[LODE_SIGNATURE_LENGTHS] = {0}, sum = 0;

	for (guint j = 0; j < self->signatures->len; j++)
		for (unsigned length = 0; length < LODE_SIGNATURE_LENGTHS && shares[j] > 0;
			length++) {
			const LodeSequenceTable *supports = &self->models[j].supports[kind];
			listed[length] += shares[j] * self->models[j].listed[kind][length];
			for (size_t i = 0; i < supports->n_slots && length == 0; i++)
				if (supports->slots[i].key != 0)
					*lode_sequence_table_at(&expected,
						supports->slots[i].key) += shares[j] *
					                                   supports->slots[i].value;
		}
	for (size_t i = 0; i < expected.n_slots; i++) {
		uint64_t key = expected.slots[i].key;
		if (key == 0)
			continue;
		double p = lode_sequence_table_get(observed, key, 0) / total;
		seen[lode_sequence_length(key) - 1] += p;
		sum += divergence(p, expected.slots[i].value);
		*noise += MIN(1 / (8 * G_LN2 * samples), expected.slots[i].value / 2);
	}
	for (unsigned length = 0; length < LODE_SIGNATURE_LENGTHS; length++)
		sum += divergence(MAX(1 - seen[length], 0), MAX(1 - listed[length], 0));
	lode_sequence_table_clear(&expected);
	return sum;
}

LodeMixtureDistance lode_mixture_distance(
	const LodeClassifying *self, const double *shares, uint32_t image)
{
	const LodeProgramRun *run = lode_program_run_of(self->profile);
	guint n = self->signatures->len;
	g_autofree double *parts = g_new0(double, n + 1);
	double known = 0, sum = 0, limit = 0, noise = 0;

	for (guint j = 0; j < n; j++)
		known += shares[j];
	if (!(known > 0))
		return (LodeMixtureDistance){1, 0};
	for (guint j = 0; j < n; j++) {
		parts[j] = shares[j] / known;
		limit += parts[j] * self->limits[j] * self->limits[j];
	}
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++) {
		LodeSequenceTable supports = {0};
		LodeClassifiedPart part = {self->vertex_images, image, &supports, true, {0}};
		lode_executed_sequences_visit(
			self->executed, (LodeSequenceKind)kind, lode_classified_part_add, &part);
		double total = MAX(part.totals[0], DBL_MIN);
		sum += divergence_of_mixture(self, parts, kind, &supports, total,
			self->weights != NULL ? run->n_samples * total / self->executed->total
					      : INFINITY,
			&noise);
		lode_sequence_table_clear(&supports);
	}
	limit += chance_factor * noise / (LODE_N_SEQUENCE_KINDS * LODE_SIGNATURE_LENGTHS);
	return (LodeMixtureDistance){sqrt(sum / (LODE_N_SEQUENCE_KINDS * LODE_SIGNATURE_LENGTHS)),
		MIN(sqrt(limit), most_limit_of_few)};
}

bool lode_signatures_are_alike(const LodeClassifying *self, guint a, guint b)
{
	g_autofree double *shares = g_new0(double, self->signatures->len + 1);
	double sum = 0, noise = 0;

	shares[a] = 1;
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		sum += divergence_of_mixture(
			self, shares, kind, &self->models[b].supports[kind], 1, INFINITY, &noise);
	return sqrt(sum / (LODE_N_SEQUENCE_KINDS * LODE_SIGNATURE_LENGTHS)) <=
	       MAX(self->limits[a], self->limits[b]);
}

/* --- evidence --- */

typedef struct {
	uint64_t key;
	unsigned kind;
	double in_profile, in_signature, bits;
} Clue;

LODE_ORDER(compare_clues, Clue, LODE_DESCENDING(bits), LODE_ASCENDING(kind), LODE_ASCENDING(key))

/* Whether one sequence holds the other, so that it says the same. */
static bool repeats(const LodeEvidence *chosen, const char *text)
{
	g_autofree char *left = g_strdup_printf(" %s ", chosen->text);
	g_autofree char *right = g_strdup_printf(" %s ", text);

	return strstr(left, right) != NULL || strstr(right, left) != NULL;
}

static uint32_t choose_evidence(
	const LodeClassifying *self, GArray *clues, LodeEvidence out[LODE_EVIDENCE_MAX])
{
	uint32_t n = 0;

	g_array_sort(clues, compare_clues);
	for (guint i = 0; i < clues->len && n < LODE_EVIDENCE_MAX; i++) {
		const Clue *clue = &LODE_AT(clues, Clue, i);
		char *text = lode_symbols_text(self->symbols, clue->key);
		bool is_new = true;
		for (uint32_t k = 0; k < n && is_new; k++)
			is_new = out[k].kind != (LodeSequenceKind)clue->kind ||
			         !repeats(&out[k], text);
		if (!is_new) {
			g_free(text);
			continue;
		}
		out[n++] = (LodeEvidence){text, (LodeSequenceKind)clue->kind, clue->in_profile,
			clue->in_signature, clue->bits};
	}
	return n;
}

/* The mean support in the other signatures. */
static double elsewhere(const LodeClassifying *self, guint j, unsigned kind, uint64_t key)
{
	double sum = 0;

	for (guint i = 0; i < self->signatures->len; i++)
		if (i != j)
			sum += lode_sequence_table_get(&self->models[i].supports[kind], key, 0);
	return sum / MAX(self->signatures->len - 1, 1);
}

void lode_signature_evidence_find(const LodeClassifying *self, guint j, LodeSignatureMatch *match)
{
	g_autoptr(GArray) with = g_array_new(FALSE, FALSE, sizeof(Clue));
	g_autoptr(GArray) against = g_array_new(FALSE, FALSE, sizeof(Clue));

	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++) {
		const LodeSequenceTable *supports = &self->models[j].supports[kind];
		double least = self->models[j].signature->min_support;
		for (size_t i = 0; i < supports->n_slots; i++) {
			uint64_t key = supports->slots[i].key;
			if (key == 0)
				continue;
			double q = supports->slots[i].value;
			double p = lode_sequence_table_get(&self->supports[kind], key, 0);
			double other = elsewhere(self, j, kind, key);
			Clue clue = {key, kind, p, q,
				self->signatures->len > 1 ? MIN(p, q) * log2(q / MAX(other, least))
							  : MIN(p, q)};
			if (clue.bits > 0)
				g_array_append_val(with, clue);
			clue.bits = divergence(p, q);
			if (clue.bits > 1e-4)
				g_array_append_val(against, clue);
		}
		for (size_t i = 0; i < self->supports[kind].n_slots; i++) {
			const LodeSequenceValue *one = &self->supports[kind].slots[i];
			Clue clue = {one->key, kind, one->value, 0, one->value / 2};
			if (one->key != 0 && one->value > 1e-3 &&
				lode_sequence_table_get(supports, one->key, -1) < 0)
				g_array_append_val(against, clue);
		}
	}
	match->n_for = choose_evidence(self, with, match->evidence_for);
	match->n_against = choose_evidence(self, against, match->evidence_against);
}
