/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/classifying.h"

#include "analyses/signatures/signature_model.h"
#include "model/code.h"

/* bench/results/classify.md says what each was chosen on. */
static const double unknown_support = 1e-6; /* of any sequence, in code that no signature has */
static const double least_left = 0.01;    /* of a signature, for sequences that it does not list */
static const double least_in_file = 1e-3; /* of a sequence, in a file that a signature lacks */

void lode_sequence_fit_clear(LodeSequenceFit *self)
{
	g_free(self->observed);
	g_free(self->expected);
	g_free(self->shares);
	for (guint i = 0; i < self->n_images; i++)
		lode_sequence_table_clear(&self->indexes[i]);
	g_free(self->indexes);
	g_clear_pointer(&self->items, g_array_unref);
	g_clear_pointer(&self->item_images, g_array_unref);
}

/* Sequences that a signature does not list share its remainder, whatever the sum of the estimates
 * is.
 */
static void expect(const LodeClassifying *self, unsigned kind, unsigned length, guint j,
	const GArray *sequences, double *out_expected)
{
	const LodeSignatureModel *model = &self->models[j];
	double left = MAX(
		model->signature->totals[kind][length - 1] - model->listed[kind][length - 1],
		least_left);
	double estimates = 0;

	for (guint s = 0; s < sequences->len; s++) {
		uint64_t key = LODE_AT(sequences, LodeSequenceValue, s).key;
		out_expected[s] = lode_signature_model_support(model, (LodeSequenceKind)kind, key);
		if (lode_sequence_table_get(&model->supports[kind], key, -1) < 0)
			estimates += out_expected[s];
	}
	double scale = estimates > left ? left / estimates : 1;
	double whole = model->listed[kind][length - 1] + left;
	for (guint s = 0; s < sequences->len; s++) {
		uint64_t key = LODE_AT(sequences, LodeSequenceValue, s).key;
		if (lode_sequence_table_get(&model->supports[kind], key, -1) < 0)
			out_expected[s] *= scale;
		out_expected[s] /= whole;
	}
}

/*
 * What a signature gives to a sequence is divided among the files that it executes, by its
 * executions in them and by those of the sequence in the profile: which sequences are in which file
 * is not in a signature. `indexes` of `by_sequence`.
 */
static void divide_by_files(LodeSequenceFit *self, const LodeClassifying *classifying, guint j,
	const LodeSequenceTable *indexes, const double *by_sequence)
{
	guint n = self->items->len, n_signatures = classifying->signatures->len;
	g_autofree double *sums = g_new0(double, n + 1);
	g_autofree guint *sequences = g_new(guint, n + 1);
	double *expected = self->expected + (size_t)j * n;

	for (guint i = 0; i < n; i++) {
		const LodeSequenceValue *item = &LODE_AT(self->items, LodeSequenceValue, i);
		size_t image = LODE_AT(self->item_images, uint32_t, i);
		expected[i] = classifying->file_shares[image * n_signatures + j] * item->value;
		sequences[i] = (guint)lode_sequence_table_get(indexes, item->key, 0);
		sums[sequences[i]] += MAX(expected[i], 0);
	}
	for (guint i = 0; i < n; i++)
		expected[i] = by_sequence[sequences[i]] *
		              (expected[i] > 0
					      ? MAX(expected[i] / sums[sequences[i]], least_in_file)
					      : least_in_file);
}

void lode_sequence_fit_init(
	LodeSequenceFit *self, const LodeClassifying *classifying, unsigned kind, uint32_t image)
{
	guint n_signatures = classifying->signatures->len;
	guint n_images = lode_code_of(classifying->profile)->images->len;
	g_autofree LodeSequenceTable *tables = g_new0(LodeSequenceTable, n_images + 1);
	GArray *items = g_array_new(FALSE, FALSE, sizeof(LodeSequenceValue));
	GArray *item_images = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	LodeSequenceTable whole = {0};
	LodeClassifiedPart part = {classifying->vertex_images, image, tables, false, {0}};

	lode_executed_sequences_visit(
		classifying->executed, (LodeSequenceKind)kind, lode_classified_part_add, &part);
	*self = (LodeSequenceFit){.length = LODE_SIGNATURE_LENGTHS,
		.n_images = n_images,
		.items = items,
		.item_images = item_images};
	while (self->length > 1 && !(part.totals[self->length - 1] > 0.1 * part.totals[0]))
		self->length--;
	self->indexes = g_new0(LodeSequenceTable, n_images + 1);
	for (uint32_t i = 0; i < n_images; i++) {
		g_autoptr(GArray) all = lode_sequence_table_sorted(&tables[i]);
		for (guint k = 0; k < all->len; k++) {
			const LodeSequenceValue *one = &LODE_AT(all, LodeSequenceValue, k);
			if (lode_sequence_length(one->key) != self->length)
				continue;
			*lode_sequence_table_at(&self->indexes[i], one->key) = items->len;
			*lode_sequence_table_at(&whole, one->key) += one->value;
			g_array_append_val(items, *one);
			g_array_append_val(item_images, i);
		}
		lode_sequence_table_clear(&tables[i]);
	}
	g_autoptr(GArray) sequences = lode_sequence_table_sorted(&whole);
	for (guint s = 0; s < sequences->len; s++)
		*lode_sequence_table_at(&whole, LODE_AT(sequences, LodeSequenceValue, s).key) = s;
	self->observed = g_new0(double, items->len + 1);
	self->expected = g_new0(double, (size_t)n_signatures * items->len + 1);
	self->shares = g_new0(double, n_signatures + 1);
	g_autofree double *by_sequence = g_new0(double, sequences->len + 1);
	for (guint i = 0; i < items->len; i++)
		self->observed[i] = LODE_AT(items, LodeSequenceValue, i).value /
		                    part.totals[self->length - 1];
	for (guint j = 0; j < n_signatures; j++) {
		expect(classifying, kind, self->length, j, sequences, by_sequence);
		divide_by_files(self, classifying, j, &whole, by_sequence);
	}
	lode_sequence_table_clear(&whole);
	self->mixture = (LodeMixture){
		items->len, n_signatures, self->observed, self->expected, unknown_support};
}

void lode_sequence_fit_shares(LodeSequenceFit *self, double least_part, bool *may_have)
{
	size_t n = self->mixture.n_components;

	lode_mixture_fit(&self->mixture, may_have, 1e-3, self->shares);
	for (size_t j = 0; j < n; j++)
		may_have[j] &= self->shares[j] >= least_part / 4;
	while (true) {
		size_t least = n;
		lode_mixture_fit(&self->mixture, may_have, 1e-5, self->shares);
		for (size_t j = 0; j < n; j++)
			if (may_have[j] && self->shares[j] < least_part &&
				(least == n || self->shares[j] < self->shares[least]))
				least = j;
		if (least == n)
			break;
		may_have[least] = false;
	}
	lode_mixture_fit(&self->mixture, may_have, 1e-7, self->shares);
}

double lode_sequence_fit_explained(const LodeSequenceFit *self, guint j)
{
	double shares[2];
	const LodeMixture alone = {self->mixture.n_sequences, 1, self->observed,
		self->expected + (size_t)j * self->mixture.n_sequences, unknown_support};

	lode_mixture_fit(&alone, NULL, 1e-6, shares);
	return shares[0];
}

typedef struct {
	const LodeSequenceFit *fit;
	const uint32_t *vertex_images;
	size_t component;
	double *all, *part; /* of each vertex: executions of the paths over it, and what is of the
	                       component (n_components: the rest) */
} Covering;

static void cover(const uint32_t *vertices, unsigned n, uint64_t key, double count, void *user_data)
{
	Covering *self = user_data;

	if (n != self->fit->length)
		return;
	const LodeSequenceTable *indexes = &self->fit->indexes[self->vertex_images[vertices[0]]];
	double index = lode_sequence_table_get(indexes, key, -1);
	if (index < 0)
		return;
	double part = count * lode_mixture_part(&self->fit->mixture, self->fit->shares,
				      self->component, (size_t)index);
	for (unsigned i = 0; i < n; i++) {
		self->all[vertices[i]] += count;
		self->part[vertices[i]] += part;
	}
}

void lode_sequence_fit_cover(const LodeSequenceFit *self, const LodeClassifying *classifying,
	size_t component, double *all, double *part)
{
	Covering covering = {self, classifying->vertex_images, component, all, part};

	lode_executed_sequences_visit(
		classifying->executed, LODE_SEQUENCES_OPCODES, cover, &covering);
}
