/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/slice_classification.h"

#include "ingest/import.h"

GPtrArray *lode_classify_slices(const char *path, const GArray *slices, const GPtrArray *signatures,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(GPtrArray)
		found = g_ptr_array_new_with_free_func((GDestroyNotify)lode_classification_free);

	for (guint i = 0; i < slices->len; i++) {
		const LodeTimeSlice *slice = &g_array_index(slices, LodeTimeSlice, i);
		const LodeImportOptions import = {
			.paths = &path,
			.n_paths = 1,
			.begin_ns = slice->begin_ns,
			.end_ns = slice->end_ns,
		};
		g_ptr_array_add(found, NULL);
		if (slice->n_samples < LODE_CLASSIFIED_SAMPLES)
			continue;
		g_autoptr(LodeProfile) profile = lode_import(&import, progress, error);
		if (profile == NULL)
			return NULL;
		found->pdata[i] = lode_classify(profile, signatures, progress, error);
		if (found->pdata[i] == NULL)
			return NULL;
	}
	return g_steal_pointer(&found);
}
