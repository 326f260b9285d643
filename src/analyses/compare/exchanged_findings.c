/* SPDX-License-Identifier: MIT */
#include "analyses/compare/moved_code.h"

#include "base/arrays/sum_table.h"
#include "model/code.h"
#include "model/findings.h"
#include "model/lines/own_lines.h"

#define MIN_COMMON 0.5

/* "file.c:12" → share of the time of a finding in one profile; no lines: empty. The caller unrefs
 * it. Files are known by their last parts, as builds are in different folders. */
static GHashTable *shares_of_lines(const LodeProfile *profile, const LodeFindings *findings,
	const LodeFinding *finding, const LodeOwnLines *own)
{
	GHashTable *out = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	double total = 0;

	for (uint32_t i = 0; i < finding->n_places; i++)
		total += LODE_AT(findings->places, LodeFindingPlace, finding->first_place + i).time;
	for (uint32_t i = 0; i < finding->n_places && total > 0; i++) {
		const LodeFindingPlace *place = &LODE_AT(
			findings->places, LodeFindingPlace, finding->first_place + i);
		uint32_t line = lode_own_lines_find(own, place->instruction);
		if (line == LODE_NONE)
			continue;
		const LodeLocation *location = &LODE_AT(
			lode_code_of(profile)->locations, LodeLocation, line);
		if (location->file == NULL || location->line == 0)
			continue;
		g_autofree char *file = g_path_get_basename(location->file);
		g_autofree char *key = g_strdup_printf("%s:%u", file, location->line);
		*lode_sum_at_text(out, key) += place->time / total;
	}
	return out;
}

static double common_share(GHashTable *before, GHashTable *after)
{
	GHashTableIter all;
	void *key, *value;
	double common = 0;

	g_hash_table_iter_init(&all, before);
	while (g_hash_table_iter_next(&all, &key, &value)) {
		const double *other = g_hash_table_lookup(after, key);
		if (other != NULL)
			common += MIN(*(const double *)value, *other);
	}
	return common;
}

static uint32_t first_of(uint32_t *groups, uint32_t index)
{
	while (groups[index] != index)
		index = groups[index] = groups[groups[index]];
	return index;
}

uint32_t *lode_exchanged_findings_group(const LodeProfile *const profiles[2],
	const LodeSharedFindings *shared, const LodeOwnLines *const own[2], const double *changes)
{
	uint32_t n = shared->sides[0]->findings->len;
	uint32_t *groups = g_new(uint32_t, n + 1);
	g_autoptr(GPtrArray)
		lines = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);

	for (uint32_t i = 0; i < n; i++) {
		int side = changes[i] > 0;
		groups[i] = i;
		g_ptr_array_add(
			lines, shares_of_lines(profiles[side], shared->sides[side],
				       lode_findings_at(shared->sides[side], i), own[side]));
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			if (!(changes[i] < 0 && changes[j] > 0) ||
				common_share(g_ptr_array_index(lines, i),
					g_ptr_array_index(lines, j)) < MIN_COMMON)
				continue;
			uint32_t a = first_of(groups, i), b = first_of(groups, j);
			groups[MAX(a, b)] = MIN(a, b);
		}
	for (uint32_t i = 0; i < n; i++)
		groups[i] = first_of(groups, i);
	return groups;
}
