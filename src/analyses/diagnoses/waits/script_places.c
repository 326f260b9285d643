/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/waits/wait_bundles.h"

#include "base/arrays/sum_table.h"

static LodeWaitPlace place_of(const LodeWaitStart *start)
{
	return (LodeWaitPlace){
		.function = start->function, .file = start->file, .line = start->line};
}

static bool is_started(const LodeWaitDiagnosing *self, const LodeWaitStart *start,
	const char *parent, const char *name)
{
	const LodeWaitProcess *one = lode_wait_process_at(self, start->process);
	const char *by = one->parent < self->waits->processes->len
	                         ? lode_wait_process_at(self, one->parent)->name
	                         : NULL;

	return (name == NULL || g_strcmp0(one->name, name) == 0) &&
	       (parent == NULL || g_strcmp0(by, parent) == 0);
}

LodeWaitRuns lode_wait_find_start(
	const LodeWaitDiagnosing *self, const char *parent, const char *name)
{
	g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	g_autoptr(GStringChunk) keys = g_string_chunk_new(1 << 8);
	LodeWaitRuns found = {0};
	double all = 0, most = 0;

	for (guint i = 0; i < self->waits->starts->len; i++) {
		const LodeWaitStart *start = &g_array_index(self->waits->starts, LodeWaitStart, i);
		if (!is_started(self, start, parent, name))
			continue;
		const LodeWaitProcess *one = lode_wait_process_at(self, start->process);
		g_autofree char *key = g_strdup_printf("%u %s", start->line, start->file);
		double *sum = lode_sum_at(sums, g_string_chunk_insert_const(keys, key));
		double kept = self->repeats != NULL ? 1 - MIN(self->repeats[start->process], 1) : 1;
		double life_ns = kept * (double)(one->end_ns - one->begin_ns);
		*sum += life_ns;
		all += life_ns;
		if (*sum > most) {
			most = *sum;
			found.place = place_of(start);
		}
	}
	found.share = all > 0 ? most / all : 0;
	return found;
}

LodeWaitPlace lode_wait_start_of(const LodeWaitDiagnosing *self, uint32_t process)
{
	for (guint i = 0; i < self->waits->starts->len; i++) {
		const LodeWaitStart *start = &g_array_index(self->waits->starts, LodeWaitStart, i);
		if (start->process == process)
			return place_of(start);
	}
	return (LodeWaitPlace){0};
}
