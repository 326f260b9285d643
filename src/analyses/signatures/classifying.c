/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/classifying.h"

#include "analyses/signatures/signature_model.h"
#include "base/error.h"
#include "model/profile.h"

#include <string.h>

const LodeSignature *lode_classifying_signature(const LodeClassifying *self, guint index)
{
	return g_ptr_array_index(self->signatures, index);
}

bool *lode_classifying_all(const LodeClassifying *self)
{
	bool *all = g_new(bool, self->signatures->len + 1);

	for (guint j = 0; j <= self->signatures->len; j++)
		all[j] = true;
	return all;
}

void lode_classified_part_add(
	const uint32_t *vertices, unsigned n, uint64_t key, double count, void *user_data)
{
	LodeClassifiedPart *self = user_data;
	uint32_t image = self->vertex_images[vertices[0]];

	if (self->image != LODE_NONE && self->image != image)
		return;
	*lode_sequence_table_at(&self->tables[self->is_one_table ? 0 : image], key) += count;
	self->totals[n - 1] += count;
}

/* A signature's share of executions in a file, found by its build-id, and by its name where one of
 * both has none; −1: it has no such file. */
static double share_in_file(const LodeSignature *signature, const char *text)
{
	const char *name = strchr(text, ' ');

	for (guint i = 0; i < signature->files->len; i++) {
		const LodeSignatureFile *file = &LODE_AT(signature->files, LodeSignatureFile, i);
		const char *other = file->text, *other_name = strchr(other, ' ');
		bool by_name = *text == '-' || *other == '-';
		if (by_name ? strcmp(name, other_name) == 0
			    : name - text == other_name - other &&
					strncmp(text, other, (size_t)(name - text)) == 0)
			return file->share;
	}
	return -1;
}

/* Finds for each image the signatures' shares of executions in it, −1 for those that lack it. All
 * are 1 where they say nothing: for files that no signature has, code that is in no file, and
 * signatures without files.
 */
static void find_files(LodeClassifying *self)
{
	const GArray *images = self->profile->code.images;
	guint n = self->signatures->len;
	bool is_known = true;

	for (guint j = 0; j < n; j++)
		is_known &= lode_classifying_signature(self, j)->files->len > 0;
	for (guint i = 0; i < images->len; i++) {
		const LodeImage *image = lode_profile_image(self->profile, i);
		g_autofree char *text = lode_signature_file_text(image->path, image->build_id);
		bool is_file = is_known && image->kind == LODE_IMAGE_FILE;
		double *shares = self->file_shares + (size_t)i * n, most = -1;
		for (guint j = 0; j < n && is_file; j++) {
			shares[j] = share_in_file(lode_classifying_signature(self, j), text);
			most = MAX(most, shares[j]);
		}
		self->is_new_image[i] = is_file && most < 0;
		for (guint j = 0; j < n; j++)
			shares[j] = most < 0 ? 1 : shares[j];
	}
}

double lode_classifying_file_share(const LodeClassifying *self, guint j, guint image)
{
	return MAX(self->file_shares[(size_t)image * self->signatures->len + j], 0);
}

static bool all_have_file(const LodeClassifying *self, const char *text)
{
	for (guint j = 0; j < self->signatures->len; j++)
		if (share_in_file(lode_classifying_signature(self, j), text) < 0)
			return false;
	return true;
}

/* Common files do not say which signatures are executed. Where a signature has hardly another file,
 * as with one program's workloads alone, none counts as common. */
static void find_common_files(LodeClassifying *self)
{
	guint n = self->signatures->len;
	double least = 1;

	for (guint j = 0; j < n; j++) {
		const GArray *files = lode_classifying_signature(self, j)->files;
		for (guint i = 0; i < files->len; i++) {
			const LodeSignatureFile *file = &LODE_AT(files, LodeSignatureFile, i);
			self->own[j] += all_have_file(self, file->text) ? 0 : file->share;
		}
		least = MIN(least, self->own[j]);
	}
	for (guint j = 0; j < n && least < least_share; j++)
		self->own[j] = 1;
	for (guint i = 0; i < self->profile->code.images->len && least >= least_share; i++) {
		const LodeImage *image = lode_profile_image(self->profile, i);
		g_autofree char *text = lode_signature_file_text(image->path, image->build_id);
		self->is_common[i] = image->kind == LODE_IMAGE_FILE && all_have_file(self, text);
	}
}

/* For each instruction, its share of the samples' weight; NULL: executions are not inferred from
 * samples. */
static double *find_weights(const LodeProfile *profile)
{
	const LodeEvent *event = profile->code.weight_event != LODE_NONE
	                                 ? lode_profile_event(profile, profile->code.weight_event)
	                                 : NULL;

	if (profile->run.frequency != LODE_FREQUENCY_INFERRED || event == NULL ||
		!(event->total > 0) || !(profile->run.n_samples > 0))
		return NULL;
	double *weights = g_new0(double, profile->code.instructions->len + 1);
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t end = LODE_AT(profile->code.cost_starts, uint32_t, i + 1);
		for (uint32_t c = LODE_AT(profile->code.cost_starts, uint32_t, i); c < end; c++) {
			const LodeCost *cost = &LODE_AT(profile->code.costs, LodeCost, c);
			if (cost->event == profile->code.weight_event)
				weights[i] += cost->value / event->total;
		}
	}
	return weights;
}

bool lode_classifying_init(LodeClassifying *self, GError **error)
{
	const LodeSignature *first = lode_classifying_signature(self, 0);

	for (guint j = 0; j < self->signatures->len; j++) {
		const LodeSignature *signature = lode_classifying_signature(self, j);
		if (strcmp(signature->attributes, first->attributes) != 0) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"the signature '%s' has attributes %s, '%s' has %s: signatures "
				"that "
				"are compared have the same --attributes",
				signature->name, signature->attributes, first->name,
				first->attributes);
			return false;
		}
		if (!lode_signature_model_init(&self->models[j], signature, self->symbols, error))
			return false;
	}
	self->executed = lode_executed_sequences_new(
		self->profile, first->attributes, self->symbols, error);
	if (self->executed == NULL)
		return false;
	const LodeFlowGraph *graph = self->executed->graph;
	size_t n_images = self->profile->code.images->len;
	self->vertex_images = g_new0(uint32_t, graph->n_vertices + 1);
	self->is_new_image = g_new0(bool, n_images + 1);
	self->file_shares = g_new0(double, n_images * self->signatures->len + 1);
	self->limits = g_new0(double, self->signatures->len + 1);
	self->own = g_new0(double, self->signatures->len + 1);
	self->is_common = g_new0(bool, n_images + 1);
	for (uint32_t g = 0; g < graph->n_graphs; g++)
		for (uint32_t v = graph->graph_starts[g]; v < graph->graph_starts[g + 1]; v++)
			self->vertex_images[v] = lode_profile_function(
				self->profile, graph->graph_functions[g])
			                                 ->image;
	find_files(self);
	find_common_files(self);
	self->weights = find_weights(self->profile);
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		lode_executed_sequences_count(self->executed, (LodeSequenceKind)kind,
			&self->supports[kind], self->totals[kind]);
	return true;
}

void lode_classifying_clear(LodeClassifying *self)
{
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		lode_sequence_table_clear(&self->supports[kind]);
	lode_executed_sequences_free(self->executed);
	g_free(self->vertex_images);
	g_free(self->is_new_image);
	g_free(self->is_common);
	g_free(self->file_shares);
	g_free(self->limits);
	g_free(self->own);
	g_free(self->weights);
}
