/* SPDX-License-Identifier: MIT */
#include "analyses/waits/wait_groups.h"

#include "base/arrays/sort_order.h"
#include "base/text/command_words.h"
#include "model/process.h"
#include "model/profile.h"

#include <string.h>

enum { SEVERAL = 3 };

/* Of the lives of shells. */
static const double MOSTLY = 0.5;

/* No more at once are one after the other; of copies the time that they are waited for is shorter
 * than their lives. Of many processors, fewer leave some without work. */
static const double ONE = 1.05, ONE_COPY = 1.3, MANY_PROCESSORS = 4, MOST_PROCESSORS = 0.7;

LODE_ORDER(compare_programs, LodeWaitProgram, LODE_DESCENDING(processes),
	g_strcmp0(left->name, right->name))

static const LodeWaitProgram *find_program(const LodeWaits *waits, const char *name)
{
	for (guint i = 0; i < waits->programs->len; i++) {
		const LodeWaitProgram *program = &LODE_AT(waits->programs, LodeWaitProgram, i);
		if (g_strcmp0(program->name, name) == 0)
			return program;
	}
	return NULL;
}

/* Names of what is waited for, and of those that wait. */
static void find_names(const LodeProfile *profile, const GPtrArray *groups, GHashTable *children,
	GHashTable *parents, GHashTable *pids)
{
	for (guint i = 0; i < groups->len; i++) {
		const GArray *rows = ((const LodeWaitGroup *)g_ptr_array_index(groups, i))->rows;
		for (guint k = 0; k < rows->len; k++) {
			const LodeWait *row = &LODE_AT(
				profile->waits->rows, LodeWait, LODE_AT(rows, uint32_t, k));
			if (row->object != NULL)
				g_hash_table_add(children, row->object);
			if (row->thread_name != NULL)
				g_hash_table_add(parents, row->thread_name);
			g_hash_table_add(pids, GUINT_TO_POINTER(row->pid));
		}
	}
}

/* A process that copies itself waits for its own program: it is not one of its children. */
static void leave_out_parents(
	const LodeProfile *profile, GHashTable *pids, const char *name, LodeWaitProgram *program)
{
	for (guint i = 0; i < profile->thread_times->len; i++) {
		const LodeThreadTime *time = &LODE_AT(profile->thread_times, LodeThreadTime, i);
		if (time->pid != time->tid || g_strcmp0(time->name, name) != 0 ||
			!g_hash_table_contains(pids, GUINT_TO_POINTER(time->pid)))
			continue;
		program->processes--;
		program->lives_ns -= (double)(time->end_ns - time->begin_ns);
		program->running_ns -= time->running_ns;
	}
}

/* Those that another diagnosis has. */
static void leave_out_repeats(
	const LodeWaits *waits, const double *left_out, LodeWaitProgram *program)
{
	double all = program->lives_ns;

	for (guint i = 0; left_out != NULL && i < waits->processes->len; i++) {
		const LodeWaitProcess *one = &LODE_AT(waits->processes, LodeWaitProcess, i);
		if (!(left_out[i] > 0) || g_strcmp0(one->name, program->name) != 0)
			continue;
		program->processes -= left_out[i];
		program->lives_ns -= left_out[i] * (double)(one->end_ns - one->begin_ns);
		program->running_ns -= left_out[i] * one->running_ns;
	}
	program->lives_ns = MAX(program->lives_ns, 0);
	program->running_ns = MAX(program->running_ns, 0);
	program->lived_ns *= all > 0 ? program->lives_ns / all : 1;
}

/* `out_copies`: what was found are copies of those that wait. */
static GArray *find_children(const LodeProfile *profile, const GPtrArray *groups,
	const double *left_out, double *out_parents, bool *out_copies)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(LodeWaitProgram));
	g_autoptr(GHashTable) children = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) parents = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) pids = g_hash_table_new(NULL, NULL);
	GHashTableIter iter;
	void *name;

	find_names(profile, groups, children, parents, pids);
	g_hash_table_iter_init(&iter, children);
	while (g_hash_table_iter_next(&iter, &name, NULL)) {
		const LodeWaitProgram *program = find_program(profile->waits, name);
		bool is_copy = g_hash_table_contains(parents, name);
		/* copies that only start others are these others'; what sleeps takes no processor
		 */
		if (program == NULL || strcmp(name, LODE_SLEEP_PROGRAM) == 0 ||
			(is_copy && g_hash_table_size(children) > 1))
			continue;
		LodeWaitProgram child = *program;
		*out_copies = is_copy;
		if (is_copy)
			leave_out_parents(profile, pids, name, &child);
		leave_out_repeats(profile->waits, left_out, &child);
		if (child.processes >= 1)
			g_array_append_val(found, child);
	}
	g_array_sort(found, compare_programs);
	/* Where several processes wait, they are more than looks have seen. */
	*out_parents = g_hash_table_size(pids);
	g_hash_table_iter_init(&iter, parents);
	while (*out_parents > 1 && g_hash_table_iter_next(&iter, &name, NULL)) {
		const LodeWaitProgram *program = find_program(profile->waits, name);
		if (program != NULL && program->processes > *out_parents &&
			!g_hash_table_contains(children, name))
			*out_parents = program->processes;
	}
	return found;
}

/* How long threads of these programs were ready while other programs had the processors. */
static double kept_waiting(const LodeWaits *waits, const GArray *programs)
{
	double sum = 0;

	for (guint i = 0; i < waits->rows->len; i++) {
		const LodeWait *row = &LODE_AT(waits->rows, LodeWait, i);
		if (row->reason != LODE_WAIT_PROCESSOR ||
			g_strcmp0(row->object, LODE_WAIT_OTHERS) != 0)
			continue;
		for (guint k = 0; k < programs->len; k++)
			sum += g_strcmp0(row->thread_name,
				       LODE_AT(programs, LodeWaitProgram, k).name) == 0
			               ? row->waiting_ns
			               : 0;
	}
	return sum;
}

static LodeChildrenKind kind_of(const LodeChildren *self, double parents, double processors)
{
	double each = self->processes / parents, one = self->are_copies ? ONE_COPY : ONE;

	if (each >= LODE_MANY_CHILDREN && self->life_ns <= LODE_SHORT_LIFE_NS)
		return LODE_CHILDREN_SHORT;
	if (each >= SEVERAL && self->at_once < one && processors != 1)
		return LODE_CHILDREN_SERIAL;
	if (each >= SEVERAL && self->at_once >= one && processors >= MANY_PROCESSORS &&
		self->at_once < MOST_PROCESSORS * processors)
		return LODE_CHILDREN_NARROW;
	return LODE_CHILDREN_FEW;
}

void lode_children_init(LodeChildren *self, const LodeProfile *profile, const GPtrArray *groups,
	double waiting_ns, const double *left_out)
{
	g_autoptr(GString) text = g_string_new(NULL);
	double parents, lived_ns = 0;

	*self = (LodeChildren){0};
	g_autoptr(GArray)
		found = find_children(profile, groups, left_out, &parents, &self->are_copies);
	for (guint i = 0; i < found->len; i++) {
		const LodeWaitProgram *program = &LODE_AT(found, LodeWaitProgram, i);
		self->processes += program->processes;
		self->life_ns += program->lives_ns;
		self->running_ns += program->running_ns;
		lived_ns += program->lived_ns;
		if (i > 0)
			continue;
		self->name = program->name;
		g_string_append_printf(text, "%s ×%.0f",
			program->name != NULL ? program->name : "(unknown)", program->processes);
	}
	if (found->len == 0)
		return;
	if (found->len > 1)
		g_string_append_printf(text, " and %u more", found->len - 1);
	self->text = g_string_free(g_steal_pointer(&text), FALSE);
	/* the time with any has the parents' own, which are not told from their copies */
	lived_ns = self->are_copies ? waiting_ns : lived_ns;
	self->at_once = lived_ns > 0 ? self->life_ns / lived_ns : 0;
	if (profile->run.n_processors > 0)
		self->least_ns = (self->running_ns + kept_waiting(profile->waits, found)) /
		                 profile->run.n_processors;
	self->life_ns /= self->processes;
	self->running_ns /= self->processes;
	self->kind = kind_of(self, parents, profile->run.n_processors);
}

void lode_children_clear(LodeChildren *self)
{
	g_clear_pointer(&self->text, g_free);
}

/* How long the shells of a process lived, and slept. */
typedef struct {
	double lived_ns, slept_ns;
} Shells;

static Shells *shells_of(GHashTable *by_pid, uint32_t pid)
{
	Shells *shells = g_hash_table_lookup(by_pid, GUINT_TO_POINTER(pid));

	if (shells == NULL)
		g_hash_table_insert(by_pid, GUINT_TO_POINTER(pid), shells = g_new0(Shells, 1));
	return shells;
}

static bool is_shell(const LodeWaitProcess *process)
{
	return process->name != NULL && lode_is_shell(process->name);
}

GHashTable *lode_pids_that_pause(const LodeWaits *waits)
{
	GHashTable *pids = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) by_pid = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	const LodeWaitProcess *all = (const LodeWaitProcess *)(const void *)waits->processes->data;
	GHashTableIter iter;
	void *pid, *shells;

	for (guint i = 0; i < waits->processes->len; i++) {
		const LodeWaitProcess *by = all[i].parent < waits->processes->len
		                                    ? &all[all[i].parent]
		                                    : NULL;
		if (by == NULL)
			continue;
		double life_ns = (double)(all[i].end_ns - all[i].begin_ns);
		if (is_shell(&all[i]))
			shells_of(by_pid, by->pid)->lived_ns += life_ns;
		if (g_strcmp0(all[i].name, LODE_SLEEP_PROGRAM) == 0 && is_shell(by) &&
			by->parent < waits->processes->len)
			shells_of(by_pid, all[by->parent].pid)->slept_ns += life_ns;
	}
	g_hash_table_iter_init(&iter, by_pid);
	while (g_hash_table_iter_next(&iter, &pid, &shells))
		if (((const Shells *)shells)->slept_ns >
			MOSTLY * ((const Shells *)shells)->lived_ns)
			g_hash_table_add(pids, pid);
	return pids;
}
