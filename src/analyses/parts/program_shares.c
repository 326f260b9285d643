/* SPDX-License-Identifier: MIT */
#include "analyses/parts/program_shares.h"

#include "analyses/parts/stack_attributes.h"
#include "base/arrays/sort_order.h"
#include "model/causes.h"
#include "model/code.h"
#include "model/stacks.h"

uint32_t lode_program_shares_event(const LodeProfile *profile)
{
	uint32_t weight = lode_code_of(profile)->weight_event;
	uint32_t sampled = lode_profile_event_as_sampled(profile, weight);

	if (sampled != LODE_NONE)
		return sampled;
	if (weight != LODE_NONE && lode_profile_event(profile, weight)->kind == LODE_EVENT_SAMPLED)
		return weight;
	return LODE_AT(lode_stacks_of(profile)->samples, LodeStackSample, 0).event;
}

/* Numbers of keys, in the order in which they first come. */
static uint32_t number_of(GHashTable *numbers, const char *key)
{
	void *found;

	if (g_hash_table_lookup_extended(numbers, key, NULL, &found))
		return GPOINTER_TO_UINT(found);
	g_hash_table_insert(numbers, g_strdup(key), GUINT_TO_POINTER(g_hash_table_size(numbers)));
	return g_hash_table_size(numbers) - 1;
}

/* The row of each thread, and the rows without their sums. */
static uint32_t *group_threads(const LodeProfile *profile, const LodeStackAttributes *attributes,
	LodeProgramsBy by, GArray *rows)
{
	const GArray *threads = lode_stacks_of(profile)->threads;
	g_autoptr(GHashTable)
		numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	uint32_t *row_of = g_new(uint32_t, threads->len + 1);

	for (guint i = 0; i < threads->len; i++) {
		const LodeStackThread *thread = &LODE_AT(threads, LodeStackThread, i);
		const char *command = lode_stack_attributes_command(attributes, i);
		const char *name = by == LODE_PROGRAMS_BY_THREAD ? thread->name : command;
		bool has_pid = by == LODE_PROGRAMS_BY_PID;
		g_autofree char *key = g_strdup_printf("%" G_GUINT32_FORMAT " %s",
			has_pid ? thread->pid : 0, name != NULL ? name : "");
		row_of[i] = by == LODE_PROGRAMS_BY_THREAD ? i : number_of(numbers, key);
		if (row_of[i] == rows->len) {
			const LodeProgramShare row = {.name = name,
				.pid = thread->pid,
				.tid = thread->tid,
				.first_ns = UINT64_MAX,
				.number = row_of[i]};
			g_array_append_val(rows, row);
		}
	}
	return row_of;
}

/* Counts the processes of each command, or the threads of each process, with samples of the event.
 */
static void count_members(const LodeProfile *profile, uint32_t event, LodeProgramsBy by,
	const uint32_t *row_of, GArray *rows)
{
	const LodeStacks *stacks = lode_stacks_of(profile);
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autofree bool *has_samples = g_new0(bool, stacks->threads->len + 1);

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		has_samples[sample->thread] |= sample->event == event;
	}
	for (guint i = 0; i < stacks->threads->len; i++) {
		const LodeStackThread *thread = &LODE_AT(stacks->threads, LodeStackThread, i);
		if (!has_samples[i])
			continue;
		char *key = g_strdup_printf("%" G_GUINT32_FORMAT " %" G_GUINT32_FORMAT, row_of[i],
			by == LODE_PROGRAMS_BY_COMMAND ? thread->pid : i);
		if (g_hash_table_add(seen, key))
			LODE_AT(rows, LodeProgramShare, row_of[i]).n_processes++;
	}
}

static void add_sample(LodeProgramShare *row, const LodeStackSample *sample, uint64_t first_ns)
{
	row->samples += 1.0 + sample->n_more;
	row->weight += sample->weight;
	if (sample->time_ns == 0)
		return;
	row->first_ns = MIN(row->first_ns, sample->time_ns - first_ns);
	row->last_ns = MAX(row->last_ns, sample->time_ns - first_ns);
}

LODE_ORDER(compare_rows, LodeProgramShare, LODE_DESCENDING(weight),
	g_strcmp0(left->name, right->name), LODE_ASCENDING(number))

/* Rows without samples go; numbers are then places. */
static void sort_rows(GArray *rows, uint32_t *row_of, guint n_threads)
{
	g_autofree uint32_t *places = g_new(uint32_t, rows->len + 1);
	guint n = 0;

	g_array_sort(rows, compare_rows);
	for (guint i = 0; i < rows->len; i++) {
		LodeProgramShare *row = &LODE_AT(rows, LodeProgramShare, i);
		bool has_samples = row->samples > 0;
		places[row->number] = has_samples ? n : LODE_NONE;
		row->number = n;
		LODE_AT(rows, LodeProgramShare, n) = *row;
		n += has_samples;
	}
	g_array_set_size(rows, n);
	for (guint i = 0; i < n_threads; i++)
		row_of[i] = places[row_of[i]];
}

GArray *lode_program_shares_new(
	const LodeProfile *profile, LodeProgramsBy by, uint32_t **out_numbers)
{
	const LodeStacks *stacks = lode_stacks_of(profile);
	g_autoptr(LodeStackAttributes) attributes = lode_stack_attributes_new(profile);
	GArray *rows = g_array_new(FALSE, TRUE, sizeof(LodeProgramShare));
	g_autofree uint32_t *row_of = group_threads(profile, attributes, by, rows);
	uint64_t first_ns = lode_stack_attributes_first_time(attributes);
	uint32_t event = stacks->samples->len > 0 ? lode_program_shares_event(profile) : LODE_NONE;
	double weight = 0;

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		LodeProgramShare *row = &LODE_AT(rows, LodeProgramShare, row_of[sample->thread]);
		if (sample->event != event)
			continue;
		add_sample(row, sample, first_ns);
		weight += sample->weight;
	}
	for (guint i = 0; i < rows->len; i++) {
		LodeProgramShare *row = &LODE_AT(rows, LodeProgramShare, i);
		row->share = weight > 0 ? row->weight / weight : 0;
		row->first_ns = row->first_ns == UINT64_MAX ? 0 : row->first_ns;
	}
	count_members(profile, event, by, row_of, rows);
	sort_rows(rows, row_of, stacks->threads->len);
	if (out_numbers != NULL)
		*out_numbers = g_steal_pointer(&row_of);
	return rows;
}
