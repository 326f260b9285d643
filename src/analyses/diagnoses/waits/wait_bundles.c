/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/waits/wait_bundles.h"

#include "base/arrays/sum_table.h"
#include "base/text/command_words.h"
#include "model/causes.h"
#include "model/process.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* Fewer looks say little of waits that are mostly between them. Four are enough where a cause has
 * most of the time, or its waits are of one length: by chance, four looks in a row would find less
 * than half of the time in 6 % of the cases (0.5⁴). */
enum { FEW_OF_CHILDREN = 3, FEW_OF_MOST = 4 };

static void bundle_free(void *data)
{
	LodeWaitBundle *self = data;

	g_ptr_array_unref(self->groups);
	g_hash_table_unref(self->threads);
	lode_children_clear(&self->children);
	g_free(self);
}

uint32_t lode_wait_sampled_event(const LodeWaitDiagnosing *self)
{
	uint32_t event = self->event != LODE_NONE
	                         ? lode_profile_event_as_sampled(self->profile, self->event)
	                         : LODE_NONE;

	return event != LODE_NONE ? event : self->event;
}

GPtrArray *lode_wait_bundles_new(void)
{
	return g_ptr_array_new_with_free_func(bundle_free);
}

bool lode_wait_group_is_of_object(const LodeWaitGroup *group)
{
	return lode_wait_is_of_object(group->reason) && group->object != NULL;
}

const char *lode_wait_foreign_parent(const LodeWaitGroup *group)
{
	if (group->reason != LODE_WAIT_CHILD || group->thread_names->len == 0 ||
		(group->place.image != NULL && !lode_is_of_others(group->place.image)))
		return NULL;
	return g_ptr_array_index(group->thread_names, 0);
}

bool lode_wait_is_for_sleep(const LodeWaitGroup *group)
{
	return group->reason == LODE_WAIT_CHILD &&
	       g_strcmp0(group->object, LODE_SLEEP_PROGRAM) == 0;
}

bool lode_wait_is_of_sleep(const LodeWaitGroup *group)
{
	return group->reason == LODE_WAIT_SLEEP && group->thread_names->len == 1 &&
	       g_strcmp0(g_ptr_array_index(group->thread_names, 0), LODE_SLEEP_PROGRAM) == 0;
}

static char *key_of(const LodeWaitGroup *group)
{
	int reason = (int)group->reason + (lode_wait_is_for_sleep(group) ? LODE_N_WAIT_REASONS : 0);
	const char *parent = lode_wait_foreign_parent(group);

	if (parent != NULL)
		return g_strdup_printf("%d %s", reason, parent);
	if (group->reason == LODE_WAIT_PROCESSOR)
		return g_strdup_printf("%d", reason);
	if (group->cause != LODE_NONE)
		return g_strdup_printf("%d %u", reason, group->cause);
	if (lode_wait_group_is_of_object(group))
		return g_strdup_printf("%d %s", reason, group->object);
	return g_strdup_printf("%d %u\n%s\n%s", reason, group->place.line,
		group->place.function != NULL ? group->place.function : "",
		group->place.file != NULL ? group->place.file : "");
}

static void add_threads(LodeWaitBundle *self, const LodeWaitGroup *group)
{
	GHashTableIter iter;
	void *key, *value;

	g_hash_table_iter_init(&iter, group->threads);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		double *sum = lode_sum_at(self->threads, key);
		*sum += *(const double *)value;
		self->most_ns = MAX(self->most_ns, *sum);
	}
}

static void add_group(LodeWaitBundle *self, const LodeWaitGroup *group)
{
	if (self->first == NULL || group->waiting_ns > self->first->waiting_ns)
		self->first = group;
	if (self->cause == LODE_NONE)
		self->cause = group->cause;
	g_ptr_array_add(self->groups, (void *)group);
	self->waiting_ns += group->waiting_ns;
	self->path_ns += group->path_ns;
	self->count += group->count;
	self->looks += group->looks;
	self->longest_ns = MAX(self->longest_ns, group->longest_ns);
	add_threads(self, group);
}

/* Of the critical path, what does not wait: it runs, or could. */
static double active_path(const LodeWaitDiagnosing *self)
{
	double waiting = 0;

	for (guint i = 0; i < self->waits->rows->len; i++) {
		const LodeWait *row = &g_array_index(self->waits->rows, LodeWait, i);
		waiting += row->reason != LODE_WAIT_PROCESSOR ? row->path_ns : 0;
	}
	return MAX(self->waits->clock_ns - waiting, 0);
}

bool lode_wait_is_for_threads(LodeWaitReason reason)
{
	return reason == LODE_WAIT_JOIN || reason == LODE_WAIT_CONDITION ||
	       reason == LODE_WAIT_CHILD;
}

/* Whether one thread waits while another one, on the path, does what it waits for: then the path
 * need not go through the wait, as from a reader, who never waits, to the writer at a full pipe. */
static bool is_for_another(const LodeWaitDiagnosing *self, LodeWaitReason reason)
{
	return (lode_wait_is_for_threads(reason) || reason == LODE_WAIT_PIPE ||
		       reason == LODE_WAIT_SOCKET) &&
	       lode_waits_are_serial(self->profile);
}

/* Of several, the pieces that they lead to are different ones; without all of them the program is
 * shorter than without any. */
static void sum_causes(const LodeWaits *waits, LodeWaitBundle *bundle)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	bundle->high = bundle->low = 0;
	for (guint i = 0; i < bundle->groups->len; i++) {
		const LodeWaitGroup *group = g_ptr_array_index(bundle->groups, i);
		if (group->cause >= waits->causes->len ||
			!g_hash_table_add(seen, GUINT_TO_POINTER(group->cause)))
			continue;
		const LodeWaitCause *known = &g_array_index(
			waits->causes, LodeWaitCause, group->cause);
		bundle->high += fmax(known->high_ns, known->low_ns) / waits->clock_ns;
		bundle->low = fmax(bundle->low, known->low_ns / waits->clock_ns);
	}
}

bool lode_wait_bundle_is_held_in_waits(const LodeWaitBundle *bundle)
{
	const LodeWaitGroup *first = bundle->first;

	return first->reason == LODE_WAIT_LOCK && first->holder_call != NULL &&
	       first->holder_share >= LODE_WAIT_MOSTLY;
}

bool lode_wait_bundle_is_held_in_sleep(const LodeWaitBundle *bundle)
{
	return lode_wait_bundle_is_held_in_waits(bundle) &&
	       strstr(bundle->first->holder_call, "nanosleep") != NULL;
}

bool lode_wait_bundle_is_for_gil(const LodeWaitBundle *self)
{
	return self->first->reason == LODE_WAIT_LOCK &&
	       g_strcmp0(self->first->object, LODE_WAIT_GIL) == 0;
}

bool lode_wait_bundle_is_under_lock(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const LodeWaitPlace *place = &bundle->first->place;

	for (guint i = 0; i < self->bundles->len && bundle->first->reason != LODE_WAIT_LOCK; i++) {
		const LodeWaitBundle *lock = lode_wait_bundle_at(self, i);
		if (lode_wait_bundle_is_held_in_waits(lock) && place->function != NULL &&
			lock->high >= LODE_WAIT_MOSTLY * bundle->high &&
			lock->first->holder.line == place->line &&
			g_strcmp0(lock->first->holder.function, place->function) == 0)
			return true;
	}
	return false;
}

/* How many of the threads that wait lived at once, on average: where a service starts one for each
 * request, no thread by itself waits for long. At least 1. */
static double threads_at_once(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const GArray *times = self->profile->thread_times;
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;
	double lives_ns = 0;

	for (guint i = 0; i < times->len; i++) {
		const LodeThreadTime *time = &g_array_index(times, LodeThreadTime, i);
		uint64_t key = (uint64_t)time->pid << 32 | time->tid;
		if (!g_hash_table_contains(bundle->threads, &key) || time->end_ns < time->begin_ns)
			continue;
		lives_ns += (double)(time->end_ns - time->begin_ns);
		begin_ns = MIN(begin_ns, time->begin_ns);
		end_ns = MAX(end_ns, time->end_ns);
	}
	return end_ns > begin_ns ? MAX(lives_ns / (double)(end_ns - begin_ns), 1)
	                         : g_hash_table_size(bundle->threads);
}

/* What a thread waits there, of those that there are at once. */
static double waiting_of_each(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	return MAX(bundle->most_ns, bundle->waiting_ns / threads_at_once(self, bundle)) /
	       self->waits->clock_ns;
}

/* Whether another thread waits for threads meanwhile, as main does for a pool: then they are what
 * the program's end waits for, and the pieces of the path, which change from thread to thread, do
 * not say what a lock among them takes. */
static bool is_waited_for(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	double least_ns = LODE_WAIT_MOSTLY * waiting_of_each(self, bundle) * self->waits->clock_ns;

	for (guint i = 0; i < self->waits->rows->len; i++) {
		const LodeWait *row = &g_array_index(self->waits->rows, LodeWait, i);
		uint64_t key = (uint64_t)row->pid << 32 | row->tid;
		if ((row->reason == LODE_WAIT_JOIN || row->reason == LODE_WAIT_CONDITION) &&
			!row->is_idle && row->waiting_ns >= least_ns &&
			!g_hash_table_contains(bundle->threads, &key))
			return true;
	}
	return false;
}

static void set_savings(const LodeWaitDiagnosing *self, LodeWaitBundle *bundle)
{
	const LodeWaits *waits = self->waits;

	bundle->low = NAN;
	if (!waits->has_path)
		bundle->high = waiting_of_each(self, bundle);
	else if (bundle->cause >= waits->causes->len ||
		 bundle->first->reason == LODE_WAIT_PROCESSOR)
		bundle->high = bundle->path_ns / waits->clock_ns;
	else
		sum_causes(waits, bundle);
	bundle->high = isnan(bundle->high) ? 0 : CLAMP(bundle->high, 0, 1);
	/* at a line that waits for other children, too, the pieces are those of all */
	if (bundle->first->reason == LODE_WAIT_CHILD)
		bundle->high = fmin(bundle->high, bundle->waiting_ns / waits->clock_ns);
	if (waits->has_path && is_for_another(self, bundle->first->reason))
		bundle->high = fmax(
			bundle->high, MIN(bundle->most_ns, active_path(self)) / waits->clock_ns);
	if (waits->has_path && bundle->first->reason == LODE_WAIT_LOCK &&
		g_hash_table_size(bundle->threads) > 1 && is_waited_for(self, bundle))
		bundle->high = MIN(fmax(bundle->high, waiting_of_each(self, bundle)), 1);
	if (waits->has_path && bundle->high >= LODE_LEAST_BY_CLOCK &&
		lode_wait_bundle_is_held_in_waits(bundle))
		bundle->high = fmax(
			bundle->high, MIN(bundle->waiting_ns / g_hash_table_size(bundle->threads) /
						      waits->clock_ns,
					      1));
	/* What was done under the lock is then done by all side by side. */
	guint n_threads = g_hash_table_size(bundle->threads);
	if (lode_wait_bundle_is_held_in_waits(bundle) && n_threads > 1)
		bundle->high = fmin(bundle->high, 1 - 1.0 / n_threads);
	bundle->low = isnan(bundle->low) ? bundle->low : CLAMP(bundle->low, 0, bundle->high);
	bundle->on_path = bundle->high;
}

bool lode_wait_bundle_is_serial(const LodeWaitBundle *bundle)
{
	return bundle->first->reason == LODE_WAIT_JOIN ||
	       bundle->first->reason == LODE_WAIT_CONDITION;
}

/* The part of the processor time from which on the kernel's is mostly that of calls which the
 * program waits in. */
static const double MOSTLY_KERNEL = 0.5;

/* Calls that wait until data are on the disk also run, in the kernel: without them that time may go
 * away, too. */
static void add_running_calls(const LodeWaitDiagnosing *self, LodeWaitBundle *bundle)
{
	const LodeProfile *profile = self->profile;
	double all = profile->run.user_seconds + profile->run.system_seconds;
	double kernel = all > 0 ? profile->run.system_seconds / all : 0;

	if (bundle->first->reason != LODE_WAIT_SYNC || bundle->high < LODE_LEAST_BY_CLOCK ||
		kernel < MOSTLY_KERNEL)
		return;
	bundle->high = MIN(bundle->high + kernel * active_path(self) / self->waits->clock_ns, 1);
}

/* Of the clock: what runs side by side still takes the processors that it may use as long as its
 * processor time divided by their number. */
static void bound_by_processors(const LodeWaitDiagnosing *self, LodeWaitBundle *bundle)
{
	const LodeWaits *waits = self->waits;
	double least_ns = 0;

	if (bundle->children.kind == LODE_CHILDREN_SERIAL ||
		bundle->children.kind == LODE_CHILDREN_NARROW)
		least_ns = (1 - bundle->high) * waits->clock_ns + bundle->children.least_ns;
	else if (bundle->first->reason != LODE_WAIT_CHILD && self->profile->run.n_processors > 0 &&
		 (lode_wait_bundle_is_serial(bundle) || bundle->first->reason == LODE_WAIT_LOCK ||
			 is_for_another(self, bundle->first->reason)))
		least_ns = waits->running_ns / self->profile->run.n_processors;
	bundle->high = CLAMP(1 - least_ns / waits->clock_ns, 0, bundle->high);
	bundle->low = isnan(bundle->low) ? bundle->low : fmin(bundle->low, bundle->high);
}

static bool shares_thread(const LodeWaitBundle *self, const LodeWaitBundle *other)
{
	GHashTableIter iter;
	void *key;

	g_hash_table_iter_init(&iter, self->threads);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (g_hash_table_contains(other->threads, key))
			return true;
	return false;
}

/* That of the same thread's waits for files whose place is known, with most time; NULL: none. */
static LodeWaitBundle *find_placed(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	LodeWaitBundle *found = NULL;

	for (guint i = 0; i < self->bundles->len; i++) {
		LodeWaitBundle *one = g_ptr_array_index(self->bundles, i);
		if (one->first->reason == bundle->first->reason &&
			one->first->place.function != NULL && shares_thread(one, bundle) &&
			(found == NULL || one->waiting_ns > found->waiting_ns))
			found = one;
	}
	return found;
}

/* Waits for files of which no look found the place are those of the same thread at the place that
 * is known: one line writes, and the library below it waits by several calls. */
static void join_placeless(LodeWaitDiagnosing *self)
{
	for (guint i = self->bundles->len; i-- > 0;) {
		const LodeWaitBundle *bundle = lode_wait_bundle_at(self, i);
		LodeWaitReason reason = bundle->first->reason;
		LodeWaitBundle *placed = (reason == LODE_WAIT_SYNC || reason == LODE_WAIT_READ ||
						 reason == LODE_WAIT_WRITE) &&
		                                         bundle->first->place.function == NULL
		                                 ? find_placed(self, bundle)
		                                 : NULL;
		if (placed == NULL)
			continue;
		const LodeWaitGroup *first = placed->first;
		for (guint k = 0; k < bundle->groups->len; k++)
			add_group(placed, g_ptr_array_index(bundle->groups, k));
		placed->first = first;
		g_ptr_array_remove_index(self->bundles, i);
	}
}

void lode_wait_bundles_gather(LodeWaitDiagnosing *self, const GArray *groups)
{
	g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < groups->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(groups, i);
		if (!lode_wait_group_counts(self->profile, group))
			continue;
		g_autofree char *key = key_of(group);
		LodeWaitBundle *one = g_hash_table_lookup(by_key, key);
		if (one == NULL) {
			one = g_new0(LodeWaitBundle, 1);
			one->groups = g_ptr_array_new();
			one->threads = g_hash_table_new_full(
				g_int64_hash, g_int64_equal, NULL, g_free);
			one->cause = LODE_NONE;
			g_hash_table_insert(by_key, g_steal_pointer(&key), one);
			g_ptr_array_add(self->bundles, one);
		}
		add_group(one, group);
	}
	join_placeless(self);
	for (guint i = 0; i < self->bundles->len; i++) {
		LodeWaitBundle *bundle = g_ptr_array_index(self->bundles, i);
		set_savings(self, bundle);
		if (bundle->first->reason == LODE_WAIT_CHILD &&
			!lode_wait_is_for_sleep(bundle->first))
			lode_children_init(&bundle->children, self->profile, bundle->groups,
				bundle->waiting_ns, self->repeats);
		bound_by_processors(self, bundle);
		add_running_calls(self, bundle);
	}
}

/* The name of the process that waits, as that of a thread may be its own; NULL: not known. */
static const char *program_of(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const GArray *times = self->profile->thread_times;
	uint32_t row = g_array_index(bundle->first->rows, uint32_t, 0);
	uint32_t pid = g_array_index(self->waits->rows, LodeWait, row).pid;

	for (guint i = 0; i < times->len; i++) {
		const LodeThreadTime *time = &g_array_index(times, LodeThreadTime, i);
		if (time->pid == pid && time->tid == pid)
			return time->name;
	}
	return bundle->first->thread_names->len > 0
	               ? g_ptr_array_index(bundle->first->thread_names, 0)
	               : NULL;
}

bool lode_wait_bundle_is_foreign(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const char *program = program_of(self, bundle);

	const LodeWaitPlace *place = &bundle->first->place;

	return (place->function == NULL ||
		       (place->image != NULL && lode_is_of_others(place->image))) &&
	       program != NULL && g_hash_table_contains(self->foreign, program);
}

bool lode_wait_bundle_is_inner(const LodeWaitDiagnosing *self, const LodeWaitBundle *bundle)
{
	const char *program = program_of(self, bundle);

	if (!lode_wait_bundle_is_foreign(self, bundle) || lode_is_shell(program) ||
		lode_is_run_time_code(program))
		return false;
	return bundle->children.are_copies ||
	       (bundle->first->n_objects == 1 && strcmp(bundle->first->object, "unix") == 0);
}

bool lode_wait_bundle_is_known(const LodeWaitBundle *self)
{
	bool is_alike = self->longest_ns <= 2 * lode_wait_bundle_mean(self);

	return self->looks <= 0 ||
	       (self->children.text != NULL && self->looks >= FEW_OF_CHILDREN) ||
	       ((is_alike || self->high >= LODE_WAIT_MOSTLY) && self->looks >= FEW_OF_MOST) ||
	       self->looks >= LODE_WAIT_FEW_LOOKS || self->count <= 2 * self->looks;
}
