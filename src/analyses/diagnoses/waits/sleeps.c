/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/waits/wait_bundles.h"

#include "base/arrays/sum_table.h"
#include "base/text/command_words.h"
#include "model/process.h"
#include "model/stacks.h"

#include <string.h>

/* A thread that looks again does so after a few times, which it chose; where there are more, the
 * sleep stands for something. */
enum { MANY_TIMES = 6 };

/* Threads that are given work by others: of Java's executors, Python's and Rust's. */
static bool is_of_pool(const char *thread_name)
{
	static const char *const names[] = {
		"pool-*-thread-*", "ForkJoinPool*", "ThreadPoolExec*", "tokio-runtime-w*"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_pattern_match_simple(names[i], thread_name))
			return true;
	return false;
}

/* Whether a wait is in a task of one of Java's pools: names of threads may not be known. */
static bool is_in_java_pool(const LodeWaitDiagnosing *self, const LodeWait *row)
{
	static const char worker[] = "java.util.concurrent.ThreadPoolExecutor$Worker.run(";
	const LodeStacks *stacks = lode_stacks_of(self->profile);

	for (uint32_t at = row->stack; stacks != NULL && at < stacks->stacks->len;
		at = g_array_index(stacks->stacks, LodeStack, at).outer) {
		uint32_t frame = g_array_index(stacks->stacks, LodeStack, at).frame;
		const char *name = g_array_index(stacks->frames, LodeFrame, frame).function;
		if (name != NULL && g_str_has_prefix(name, worker))
			return true;
	}
	return false;
}

bool lode_wait_is_of_only_thread(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const GArray *rows = self->waits->rows;
	const LodeWait *first = &g_array_index(
		rows, LodeWait, g_array_index(bundle->first->rows, uint32_t, 0));
	const char *name = first->thread_name != NULL ? first->thread_name : "",
		   *number = strrchr(name, '-');
	bool is_named = is_of_pool(name) && number != NULL, is_java = is_in_java_pool(self, first);

	if (g_hash_table_size(bundle->threads) != 1 || (!is_named && !is_java))
		return false;
	for (guint i = 0; i < rows->len; i++) {
		const LodeWait *row = &g_array_index(rows, LodeWait, i);
		bool is_beside = is_named && row->thread_name != NULL &&
		                 strncmp(row->thread_name, name, (size_t)(number + 1 - name)) == 0;
		if (row->tid != first->tid &&
			(is_beside || (is_java && is_in_java_pool(self, row))))
			return false;
	}
	return true;
}

bool lode_wait_sleep_is_work(const LodeWaitBundle *bundle, const GArray *groups)
{
	if (bundle->first->reason != LODE_WAIT_SLEEP)
		return false;
	const GPtrArray *names = bundle->first->thread_names;
	if (bundle->first->n_objects >= MANY_TIMES ||
		(names->len > 0 && is_of_pool(g_ptr_array_index(names, 0))))
		return true;
	for (guint i = 0; i < groups->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(groups, i);
		if (!group->is_idle && lode_wait_is_for_threads(group->reason) &&
			!lode_wait_is_for_sleep(group) &&
			group->most_ns >= LODE_WAIT_MOSTLY * bundle->most_ns &&
			group->count <= LODE_WAIT_MOSTLY * bundle->count)
			return true;
	}
	return false;
}

/* Who started a process, but for a shell that was started for it alone; NULL: not known. */
static const char *starter_of(const LodeWaitDiagnosing *self, const LodeWaitProcess *process)
{
	const guint n = self->waits->processes->len;
	const LodeWaitProcess *by = process->parent < n
	                                    ? lode_wait_process_at(self, process->parent)
	                                    : NULL;

	if (by != NULL && by->name != NULL && lode_is_shell(by->name) && by->command != NULL &&
		by->parent < n) {
		g_autofree char *alone = g_strdup_printf("-c '%s'",
			process->command != NULL ? process->command : LODE_SLEEP_PROGRAM);
		if (g_str_has_suffix(by->command, alone))
			by = lode_wait_process_at(self, by->parent);
	}
	return by != NULL ? by->name : NULL;
}

const char *lode_wait_sleep_starter(const LodeWaitDiagnosing *self, guint *out_all)
{
	g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	const char *most = NULL;
	double best = 0;
	guint all = 0;

	for (guint i = 0; i < self->waits->processes->len; i++) {
		const LodeWaitProcess *one = lode_wait_process_at(self, i);
		if (g_strcmp0(one->name, LODE_SLEEP_PROGRAM) != 0)
			continue;
		all++;
		const char *by = starter_of(self, one);
		double *sum = by != NULL ? lode_sum_at(sums, by) : NULL;
		if (sum != NULL && ++*sum > best) {
			best = *sum;
			most = by;
		}
	}
	if (out_all != NULL)
		*out_all = all;
	return most;
}

char *lode_wait_sleep_text(const LodeWaitDiagnosing *self)
{
	guint n;
	const char *by = lode_wait_sleep_starter(self, &n);

	if (n == 0)
		return g_strdup(LODE_SLEEP_PROGRAM);
	return g_strdup_printf("%s ×%u%s%s", LODE_SLEEP_PROGRAM, n,
		by != NULL ? ", started by " : "", by != NULL ? by : "");
}

const LodeWaitPlace *lode_wait_sleep_place(
	const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	for (guint i = 0; i < self->bundles->len; i++) {
		const LodeWaitGroup *other = lode_wait_bundle_at(self, i)->first;
		if (lode_wait_is_for_sleep(other) && lode_wait_foreign_parent(other) == NULL &&
			other->place.function != NULL)
			return &other->place;
	}
	return &bundle->first->place;
}

bool lode_wait_sleep_is_told_by_other(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	bool is_parent = lode_wait_is_for_sleep(bundle->first);

	if (is_parent && bundle->high < LODE_WAIT_MOSTLY)
		return true;
	for (guint i = 0; i < self->bundles->len; i++) {
		const LodeWaitBundle *other = lode_wait_bundle_at(self, i);
		if (is_parent && lode_wait_is_of_sleep(other->first) &&
			other->high >= LODE_WAIT_MOSTLY * bundle->high)
			return true;
		if (lode_wait_is_of_sleep(bundle->first) && lode_wait_is_for_sleep(other->first) &&
			other->high >= LODE_WAIT_MOSTLY &&
			bundle->high < LODE_WAIT_MOSTLY * other->high)
			return true;
	}
	return false;
}
