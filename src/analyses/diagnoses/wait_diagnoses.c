/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/thread_diagnoses.h"

#include "analyses/waits/wait_groups.h"
#include "base/arrays/sum_table.h"
#include "model/causes.h"
#include "model/findings.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/stacks.h"

#include <math.h>
#include <string.h>

/* Of the time by the clock: from when on waiting is spoken of at all. */
static const double MUCH_SAVED = 0.1;

/* Fewer looks say little of waits that are mostly between them. Four are enough where a cause has
 * most of the time, or its waits are of one length: by chance, four looks in a row would find less
 * than half of the time in 6 % of the cases (0.5⁴). */
enum { FEW_LOOKS = 10, FEW_OF_CHILDREN = 3, FEW_OF_MOST = 4 };

/* A thread that looks again does so after a few times, which it chose; where there are more, the
 * sleep stands for something. */
enum { MANY_TIMES = 6 };

/* So many threads, woken so often, that run for less than this until they wait again, were woken
 * for nothing. */
enum { HERD_THREADS = 4, HERD_WAITS = 1000 };
static const double HERD_RUN_NS = 20e3;

/* The longest waits for an answer take about so long, and most of the time is in such: the receiver
 * delays its acknowledgement by 40 ms (TCP_DELACK_MIN), for which the sender's next small packet
 * waits (RFC 896, RFC 1122). Between them are short waits, as for a message's second part. */
static const double DELAYED_FROM_NS = 35e6, DELAYED_TO_NS = 60e6, LEAST_MEAN = 1.0 / 3;

/* The part of the holder's time that a place needs to be what it mostly does. */
static const double MOSTLY = 0.5;

/* Of the waiting for others: what these wait for themselves is worth a diagnosis of its own. */
static const double SOME = 0.1;

/* No more processes at once than this are one after the other. */
static const double ONE_AT_A_TIME = 1.05;

enum { NAMED_OBJECTS = 3, NAMED_COMMANDS = 8 };

/* Groups that go away together. */
typedef struct {
	const LodeWaitGroup *first; /* with most time */
	GPtrArray *groups;          /* const LodeWaitGroup * */
	GHashTable *threads;        /* as of groups */
	double waiting_ns, path_ns, count, longest_ns, looks, most_ns;
	uint32_t cause;
	double low, high;      /* of the clock */
	LodeChildren children; /* of waits for such */
} Cause;

typedef struct {
	const LodeProfile *profile;
	const LodeWaits *waits;
	const LodeOwnLines *own;
	const LodeCauseRules *rules;
	uint32_t event;
	GPtrArray *causes;     /* Cause */
	const double *repeats; /* how probably each process is one that need not be */
} Diagnosing;

static void cause_free(void *data)
{
	Cause *self = data;

	g_ptr_array_unref(self->groups);
	g_hash_table_unref(self->threads);
	lode_children_clear(&self->children);
	g_free(self);
}

/* --- what goes away together --- */

static bool is_of_object(const LodeWaitGroup *group)
{
	return lode_wait_is_of_object(group->reason) && group->object != NULL;
}

/* The program that waits for children, where that is in code that its user does not build: then it,
 * and not the place in it, says who starts them. NULL: the place does. */
static const char *foreign_parent(const LodeWaitGroup *group)
{
	if (group->reason != LODE_WAIT_CHILD || group->thread_names->len == 0 ||
		(group->place.image != NULL && !lode_is_of_others(group->place.image)))
		return NULL;
	return g_ptr_array_index(group->thread_names, 0);
}

/* A script's pause: it waits for a process that does nothing else. */
static bool is_for_sleep(const LodeWaitGroup *group)
{
	return group->reason == LODE_WAIT_CHILD &&
	       g_strcmp0(group->object, LODE_SLEEP_PROGRAM) == 0;
}

/* The same wait, of that process itself. */
static bool is_of_sleep(const LodeWaitGroup *group)
{
	return group->reason == LODE_WAIT_SLEEP && group->thread_names->len == 1 &&
	       g_strcmp0(g_ptr_array_index(group->thread_names, 0), LODE_SLEEP_PROGRAM) == 0;
}

static char *key_of(const LodeWaitGroup *group)
{
	int reason = (int)group->reason + (is_for_sleep(group) ? LODE_N_WAIT_REASONS : 0);
	const char *parent = foreign_parent(group);

	if (parent != NULL)
		return g_strdup_printf("%d %s", reason, parent);
	if (group->reason == LODE_WAIT_PROCESSOR)
		return g_strdup_printf("%d", reason);
	if (group->cause != LODE_NONE)
		return g_strdup_printf("%d %u", reason, group->cause);
	if (is_of_object(group))
		return g_strdup_printf("%d %s", reason, group->object);
	return g_strdup_printf("%d %u\n%s\n%s", reason, group->place.line,
		group->place.function != NULL ? group->place.function : "",
		group->place.file != NULL ? group->place.file : "");
}

static void add_threads(Cause *self, const LodeWaitGroup *group)
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

static void add_group(Cause *self, const LodeWaitGroup *group)
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
static double active_path(const Diagnosing *self)
{
	double waiting = 0;

	for (guint i = 0; i < self->waits->rows->len; i++) {
		const LodeWait *row = &g_array_index(self->waits->rows, LodeWait, i);
		waiting += row->reason != LODE_WAIT_PROCESSOR ? row->path_ns : 0;
	}
	return MAX(self->waits->clock_ns - waiting, 0);
}

/* Threads, or processes. */
static bool is_for_threads(LodeWaitReason reason)
{
	return reason == LODE_WAIT_JOIN || reason == LODE_WAIT_CONDITION ||
	       reason == LODE_WAIT_CHILD;
}

/* Whether one thread waits while another one, on the path, does what it waits for: then the path
 * need not go through the wait, as from a reader, who never waits, to the writer at a full pipe. */
static bool is_for_another(const Diagnosing *self, LodeWaitReason reason)
{
	return (is_for_threads(reason) || reason == LODE_WAIT_PIPE || reason == LODE_WAIT_SOCKET) &&
	       lode_waits_are_serial(self->profile);
}

/* Of several, the pieces that they lead to are different ones; without all of them the program is
 * shorter than without any. */
static void sum_causes(const LodeWaits *waits, Cause *cause)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

	cause->high = cause->low = 0;
	for (guint i = 0; i < cause->groups->len; i++) {
		const LodeWaitGroup *group = g_ptr_array_index(cause->groups, i);
		if (group->cause >= waits->causes->len ||
			!g_hash_table_add(seen, GUINT_TO_POINTER(group->cause)))
			continue;
		const LodeWaitCause *known = &g_array_index(
			waits->causes, LodeWaitCause, group->cause);
		cause->high += fmax(known->high_ns, known->low_ns) / waits->clock_ns;
		cause->low = fmax(cause->low, known->low_ns / waits->clock_ns);
	}
}

/* Whether those that wait for a lock wait for what its holder waits for: without the lock they
 * would do so side by side, which takes no processor. */
static bool is_held_in_waits(const Cause *cause)
{
	const LodeWaitGroup *first = cause->first;

	return first->reason == LODE_WAIT_LOCK && first->holder_call != NULL &&
	       first->holder_share >= MOSTLY;
}

/* Whether it does so in a sleep, which is then no cause of its own. */
static bool is_held_in_sleep(const Cause *cause)
{
	return is_held_in_waits(cause) && strstr(cause->first->holder_call, "nanosleep") != NULL;
}

/* A sleep under a lock goes away with what waits for the lock, or is waited for by nobody. */
static bool is_under_lock(const Diagnosing *self, const Cause *sleep)
{
	const LodeWaitPlace *place = &sleep->first->place;

	for (guint i = 0; i < self->causes->len && sleep->first->reason == LODE_WAIT_SLEEP; i++) {
		const Cause *lock = g_ptr_array_index(self->causes, i);
		if (is_held_in_sleep(lock) && lock->high >= MOSTLY * sleep->high &&
			lock->first->holder.line == place->line &&
			g_strcmp0(lock->first->holder.function, place->function) == 0)
			return true;
	}
	return false;
}

static void set_savings(const Diagnosing *self, Cause *cause)
{
	const LodeWaits *waits = self->waits;

	cause->low = NAN;
	if (!waits->has_path)
		cause->high = cause->most_ns / waits->clock_ns;
	else if (cause->cause >= waits->causes->len || cause->first->reason == LODE_WAIT_PROCESSOR)
		cause->high = cause->path_ns / waits->clock_ns;
	else
		sum_causes(waits, cause);
	cause->high = isnan(cause->high) ? 0 : CLAMP(cause->high, 0, 1);
	/* at a line that waits for other children, too, the pieces are those of all */
	if (cause->first->reason == LODE_WAIT_CHILD)
		cause->high = fmin(cause->high, cause->waiting_ns / waits->clock_ns);
	if (waits->has_path && is_for_another(self, cause->first->reason))
		cause->high = fmax(
			cause->high, MIN(cause->most_ns, active_path(self)) / waits->clock_ns);
	if (waits->has_path && cause->high >= LODE_LEAST_BY_CLOCK && is_held_in_waits(cause))
		cause->high = fmax(cause->high,
			MIN(cause->waiting_ns / g_hash_table_size(cause->threads) / waits->clock_ns,
				1));
	cause->low = isnan(cause->low) ? cause->low : CLAMP(cause->low, 0, cause->high);
}

/* Whether threads wait for what one of the program does. */
static bool is_serial(const Cause *cause)
{
	return cause->first->reason == LODE_WAIT_JOIN ||
	       cause->first->reason == LODE_WAIT_CONDITION;
}

/* Of the clock: what runs side by side still takes the processors that it may use as long as its
 * processor time divided by their number. */
static void bound_by_processors(const Diagnosing *self, Cause *cause)
{
	const LodeWaits *waits = self->waits;
	double least_ns = 0;

	if (cause->children.kind == LODE_CHILDREN_SERIAL ||
		cause->children.kind == LODE_CHILDREN_NARROW)
		least_ns = (1 - cause->high) * waits->clock_ns + cause->children.least_ns;
	else if (is_serial(cause) && self->profile->n_processors > 0)
		least_ns = waits->running_ns / self->profile->n_processors;
	cause->high = CLAMP(1 - least_ns / waits->clock_ns, 0, cause->high);
	cause->low = isnan(cause->low) ? cause->low : fmin(cause->low, cause->high);
}

static void gather(Diagnosing *self, const GArray *groups)
{
	g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < groups->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(groups, i);
		if (!lode_wait_group_counts(self->profile, group))
			continue;
		g_autofree char *key = key_of(group);
		Cause *one = g_hash_table_lookup(by_key, key);
		if (one == NULL) {
			one = g_new0(Cause, 1);
			one->groups = g_ptr_array_new();
			one->threads = g_hash_table_new_full(
				g_int64_hash, g_int64_equal, NULL, g_free);
			one->cause = LODE_NONE;
			g_hash_table_insert(by_key, g_steal_pointer(&key), one);
			g_ptr_array_add(self->causes, one);
		}
		add_group(one, group);
	}
	for (guint i = 0; i < self->causes->len; i++) {
		Cause *cause = g_ptr_array_index(self->causes, i);
		set_savings(self, cause);
		if (cause->first->reason == LODE_WAIT_CHILD)
			lode_children_init(&cause->children, self->profile, cause->groups,
				cause->waiting_ns, self->repeats);
		bound_by_processors(self, cause);
	}
}

static double mean_of(const Cause *self)
{
	return self->count > 0 ? self->waiting_ns / self->count : 0;
}

/* Looks that are much fewer than the waits say only roughly which these were; the numbers and lives
 * of processes are exact. Waits of one length are the same. */
static bool is_known(const Cause *self)
{
	bool is_alike = self->longest_ns <= 2 * mean_of(self);

	return self->looks <= 0 ||
	       (self->children.text != NULL && self->looks >= FEW_OF_CHILDREN) ||
	       ((is_alike || self->high >= MOSTLY) && self->looks >= FEW_OF_MOST) ||
	       self->looks >= FEW_LOOKS || self->count <= 2 * self->looks;
}

/* --- words for the rules --- */

/* For how long its threads ran after each time that they were woken; NAN: not known. */
static double run_after_wait(const Diagnosing *self, const Cause *cause)
{
	const GArray *times = self->profile->thread_times;
	double running = 0;
	guint n = 0;

	for (guint i = 0; i < times->len; i++) {
		const LodeThreadTime *row = &LODE_AT(times, LodeThreadTime, i);
		uint64_t key = (uint64_t)row->pid << 32 | row->tid;
		if (!g_hash_table_contains(cause->threads, &key))
			continue;
		running += row->running_ns;
		n++;
	}
	return n >= g_hash_table_size(cause->threads) && cause->count > 0 ? running / cause->count
	                                                                  : (double)NAN;
}

static bool is_herd(const Diagnosing *self, const Cause *cause)
{
	LodeWaitReason reason = cause->first->reason;

	return (reason == LODE_WAIT_LOCK || reason == LODE_WAIT_CONDITION ||
		       reason == LODE_WAIT_POLL) &&
	       g_hash_table_size(cause->threads) >= HERD_THREADS && cause->count >= HERD_WAITS &&
	       run_after_wait(self, cause) < HERD_RUN_NS;
}

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

/* Whether the sleep is itself what others wait for: it is no look at what these do. Its times
 * differ, a pool's thread sleeps, or a thread waits as long for something else, and is woken less
 * often. */
static bool stands_for_work(const Cause *cause, const GArray *groups)
{
	if (cause->first->reason != LODE_WAIT_SLEEP)
		return false;
	const GPtrArray *names = cause->first->thread_names;
	if (cause->first->n_objects >= MANY_TIMES ||
		(names->len > 0 && is_of_pool(g_ptr_array_index(names, 0))))
		return true;
	for (guint i = 0; i < groups->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(groups, i);
		if (!group->is_idle && is_for_threads(group->reason) && !is_for_sleep(group) &&
			group->most_ns >= MOSTLY * cause->most_ns &&
			group->count <= MOSTLY * cause->count)
			return true;
	}
	return false;
}

/* The part of the waiting for files that journals have: the file and its folder are written, too.
 */
static const double MUCH_FOR_JOURNALS = 0.2;

/* Whether it waits for journals of transactions: SQLite's x.db-journal and x.db-wal. */
static bool is_for_journal(const Diagnosing *self, const Cause *cause)
{
	double waiting = 0;

	for (guint i = 0; i < cause->groups->len; i++) {
		const LodeWaitGroup *group = g_ptr_array_index(cause->groups, i);
		for (guint k = 0; k < group->rows->len; k++) {
			const LodeWait *row = &g_array_index(self->waits->rows, LodeWait,
				g_array_index(group->rows, uint32_t, k));
			if (row->object != NULL && (g_str_has_suffix(row->object, "-journal") ||
							   g_str_has_suffix(row->object, "-wal")))
				waiting += row->waiting_ns;
		}
	}
	return waiting > 0 && waiting >= MUCH_FOR_JOURNALS * cause->waiting_ns;
}

static const LodeCauseRule *find_rule(
	const Diagnosing *self, const Cause *cause, const GArray *groups)
{
	static const char *const kinds[] = {
		[LODE_CHILDREN_UNKNOWN] = NULL,
		[LODE_CHILDREN_FEW] = NULL,
		[LODE_CHILDREN_SHORT] = "wait-child:short",
		[LODE_CHILDREN_SERIAL] = "wait-child:serial",
		[LODE_CHILDREN_NARROW] = "wait-child:narrow",
	};
	const LodeWaitGroup *first = cause->first;
	LodeCauseWords words = {0};
	double mean = mean_of(cause);
	bool is_pause = is_of_sleep(first) || is_for_sleep(first);
	g_autofree char *reason = g_strdup_printf(
		"wait:%s", lode_wait_reason_to_text(is_pause ? LODE_WAIT_SLEEP : first->reason));

	lode_cause_rules_add_words(self->rules, reason, &words);
	if (is_herd(self, cause))
		lode_cause_rules_add_words(self->rules, "wait:herd", &words);
	if (first->call != NULL) {
		g_autofree char *call = g_strdup_printf("wait-call:%s", first->call);
		lode_cause_rules_add_words(self->rules, call, &words);
	}
	if (first->holder_call != NULL && first->holder_share >= MOSTLY)
		lode_cause_rules_add_words(self->rules, "wait-holder:call", &words);
	if (is_held_in_sleep(cause))
		lode_cause_rules_add_words(self->rules, "wait-holder:sleep", &words);
	if (is_pause)
		lode_cause_rules_add_words(self->rules, "wait-sleep:command", &words);
	if (is_for_journal(self, cause))
		lode_cause_rules_add_words(self->rules, "wait-file:journal", &words);
	if (stands_for_work(cause, groups))
		lode_cause_rules_add_words(self->rules, "wait-sleep:work", &words);
	if (cause->longest_ns >= DELAYED_FROM_NS && cause->longest_ns <= DELAYED_TO_NS &&
		mean >= LEAST_MEAN * cause->longest_ns)
		lode_cause_rules_add_words(self->rules, "wait-steps:40ms", &words);
	if (kinds[cause->children.kind] != NULL)
		lode_cause_rules_add_words(self->rules, kinds[cause->children.kind], &words);
	return lode_cause_rules_match(self->rules, &words, NULL, 0, NULL, 0);
}

/* --- what runs meanwhile --- */

typedef struct {
	LodeWaitPlace place;
	double share; /* of the time of the threads that do not wait; 0: not known */
} Runs;

static bool does_wait(const Diagnosing *self, const Cause *cause, uint32_t thread)
{
	const LodeStackThread *row = &LODE_AT(
		self->profile->stacks->threads, LodeStackThread, thread);
	uint64_t key = (uint64_t)row->pid << 32 | row->tid;

	return g_hash_table_contains(cause->threads, &key);
}

/* The function of the user's with most samples in other threads, and of it the line with most. */
static Runs find_by_samples(const Diagnosing *self, const Cause *cause)
{
	const LodeStacks *stacks = self->profile->stacks;
	uint32_t event = self->event != LODE_NONE
	                         ? lode_profile_event_as_sampled(self->profile, self->event)
	                         : LODE_NONE;
	g_autoptr(GHashTable) functions = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_autoptr(GHashTable) lines = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	Runs most = {0};
	double all = 0, best = 0, line = 0;

	event = event != LODE_NONE ? event : self->event;
	for (guint i = 0; stacks != NULL && i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event != event || does_wait(self, cause, sample->thread))
			continue;
		LodeWaitPlace place = lode_wait_place_of(self->profile, self->own, sample->stack);
		all += sample->weight;
		if (place.function == NULL)
			continue;
		double *sum = lode_sum_at(functions, place.function);
		*sum += sample->weight;
		if (*sum > best) {
			best = *sum;
			most.place = place;
		}
	}
	const char *function = most.place.function;
	for (guint i = 0; function != NULL && i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		LodeWaitPlace place = {0};
		if (sample->event == event && !does_wait(self, cause, sample->thread))
			place = lode_wait_place_of(self->profile, self->own, sample->stack);
		if (place.function != function)
			continue;
		double *sum = lode_sum_at(lines, GUINT_TO_POINTER(place.line));
		*sum += sample->weight;
		if (*sum > line) {
			line = *sum;
			most.place = place;
		}
	}
	most.share = all > 0 ? best / all : 0;
	return most;
}

/* The thread that is waited for, where looks know it, else those that do not wait. */
static Runs find_running(const Diagnosing *self, const Cause *cause)
{
	const LodeWaitGroup *first = cause->first;

	if (first->holder_share > 0 && first->holder.function != NULL && first->holder_call == NULL)
		return (Runs){first->holder, first->holder_share};
	return find_by_samples(self, cause);
}

/* What threads that do not wait here wait for most, if it is this share of the waiting here; NULL:
 * nothing. */
static const LodeWaitGroup *find_other_wait(const GArray *groups, const Cause *cause, double least)
{
	for (guint i = 0; i < groups->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(groups, i);
		GHashTableIter iter;
		void *key;
		bool is_other = !group->is_idle && group->reason != LODE_WAIT_UNSEEN &&
		                group->waiting_ns >= least * cause->most_ns;
		g_hash_table_iter_init(&iter, group->threads);
		while (is_other && g_hash_table_iter_next(&iter, &key, NULL))
			is_other = !g_hash_table_contains(cause->threads, key);
		if (is_other)
			return group;
	}
	return NULL;
}

/* What threads did that do not wait here. */
typedef struct {
	double ran_ns; /* or could have */
	double waited_ns;
} Meanwhile;

static Meanwhile sum_meanwhile(const Diagnosing *self, const Cause *cause)
{
	const GArray *times = self->profile->thread_times;
	Meanwhile sum = {0};

	for (guint i = 0; i < times->len; i++) {
		const LodeThreadTime *row = &LODE_AT(times, LodeThreadTime, i);
		uint64_t key = (uint64_t)row->pid << 32 | row->tid;
		sum.ran_ns += g_hash_table_contains(cause->threads, &key) ? 0 : row->running_ns;
	}
	for (guint i = 0; i < self->waits->rows->len; i++) {
		const LodeWait *row = &LODE_AT(self->waits->rows, LodeWait, i);
		uint64_t key = (uint64_t)row->pid << 32 | row->tid;
		if (!row->is_idle && !g_hash_table_contains(cause->threads, &key))
			*(row->reason == LODE_WAIT_PROCESSOR ? &sum.ran_ns
							     : &sum.waited_ns) += row->waiting_ns;
	}
	return sum;
}

/* Whether a thread waits for others that wait themselves, most of the time: what these wait for is
 * the cause, as far as it is known. */
static bool is_for_waiting(const Diagnosing *self, const Cause *cause, const GArray *groups)
{
	if (!is_serial(cause) || find_other_wait(groups, cause, SOME) == NULL)
		return false;
	const Meanwhile sum = sum_meanwhile(self, cause);
	return sum.ran_ns < MOSTLY * cause->most_ns && sum.waited_ns >= MOSTLY * cause->most_ns;
}

/* --- texts --- */

/* "9.42 s", "12.3 ms", "50 µs" */
static char *time_text(double ns)
{
	return ns >= 1e8   ? g_strdup_printf("%.3g s", ns / 1e9)
	       : ns >= 1e5 ? g_strdup_printf("%.3g ms", ns / 1e6)
	                   : g_strdup_printf("%.3g µs", ns / 1e3);
}

static char *place_text(const LodeWaitPlace *place)
{
	g_autofree char *base = place->file != NULL ? g_path_get_basename(place->file) : NULL;

	return base != NULL && place->line > 0
	               ? g_strdup_printf("%s (%s:%u)", place->function, base, place->line)
	               : g_strdup(place->function);
}

static const LodeWaitProcess *process_at(const Diagnosing *self, uint32_t index)
{
	return &LODE_AT(self->waits->processes, LodeWaitProcess, index);
}

static const char *name_or_unknown(const char *name)
{
	return name != NULL ? name : "(unknown)";
}

/* Who started most of the processes that sleep; NULL: not known. `out_all`: how many there are. */
static const char *starter_of_sleep(const Diagnosing *self, guint *out_all)
{
	g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	const char *most = NULL;
	double best = 0;
	guint all = 0;

	for (guint i = 0; i < self->waits->processes->len; i++) {
		const LodeWaitProcess *one = process_at(self, i);
		if (g_strcmp0(one->name, LODE_SLEEP_PROGRAM) != 0)
			continue;
		all++;
		const char *by = one->parent < self->waits->processes->len
		                         ? process_at(self, one->parent)->name
		                         : NULL;
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

/* "sleep ×4, started by poll.sh". The caller frees it. */
static char *sleep_text(const Diagnosing *self)
{
	guint n;
	const char *by = starter_of_sleep(self, &n);

	if (n == 0)
		return g_strdup(LODE_SLEEP_PROGRAM);
	return g_strdup_printf("%s ×%u%s%s", LODE_SLEEP_PROGRAM, n,
		by != NULL ? ", started by " : "", by != NULL ? by : "");
}

/* The objects with most time; NULL: none is known. */
static char *objects_text(const Cause *self)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	guint n = 0;

	for (guint i = 0; i < self->groups->len; i++) {
		const LodeWaitGroup *group = g_ptr_array_index(self->groups, i);
		if (group->object == NULL ||
			g_ptr_array_find_with_equal_func(names, group->object, g_str_equal, NULL))
			continue;
		n++;
		if (names->len < NAMED_OBJECTS)
			g_ptr_array_add(names, (char *)lode_wait_object_text(group->object));
	}
	if (n == 0)
		return NULL;
	g_autofree char *more = n > names->len ? g_strdup_printf("%u more", n - names->len) : NULL;
	if (more != NULL)
		g_ptr_array_add(names, more);
	g_ptr_array_add(names, NULL);
	return g_strjoinv(", ", (char **)names->pdata);
}

static void add_children(
	const Diagnosing *self, LodeDiagnosis *diagnosis, const Cause *cause, const char *parent)
{
	const LodeChildren *children = &cause->children;
	g_autofree char *life = time_text(children->life_ns);
	g_autofree char *running = time_text(children->running_ns);
	double processors = self->profile->n_processors;
	g_autofree char *of = processors > 0 ? g_strdup_printf(" on %.0f processor%s", processors,
						       processors == 1 ? "" : "s")
	                                     : NULL;

	if (children->text == NULL)
		return;
	lode_diagnosis_add_evidence(diagnosis, children->processes, "processes",
		"%s each%s%s, %.2g at a time%s", life, parent != NULL ? ", started by " : "",
		parent != NULL ? parent : "", children->at_once, of != NULL ? of : "");
	lode_diagnosis_add_evidence(diagnosis, children->running_ns / 1e9, "s",
		"each ran on a processor for %s", running);
}

static void add_lengths(LodeDiagnosis *diagnosis, const Cause *cause)
{
	g_autofree char *all = time_text(cause->waiting_ns), *mean = time_text(mean_of(cause)),
			*longest = time_text(cause->longest_ns);
	guint threads = g_hash_table_size(cause->threads);
	bool is_one = threads == 1;
	const char *who = is_of_sleep(cause->first) ? is_one ? "process" : "processes"
	                  : is_one                  ? "thread"
	                                            : "threads";

	if (!(cause->count > 0))
		lode_diagnosis_add_evidence(diagnosis, cause->waiting_ns / 1e9, "s",
			"%u %s waited %s there", threads, who, all);
	else if (cause->count < 1.5)
		lode_diagnosis_add_evidence(
			diagnosis, cause->waiting_ns / 1e9, "s", "one wait of %s", all);
	else
		lode_diagnosis_add_evidence(diagnosis, cause->count, "waits",
			"%.0f waits of %s on average, %s at most, by %u %s: %s", cause->count, mean,
			longest, threads, who, all);
}

static void add_holder(LodeDiagnosis *diagnosis, const LodeWaitGroup *group)
{
	g_autofree char *place = group->holder.function != NULL ? place_text(&group->holder) : NULL;
	double percent = 100 * group->holder_share;

	if (!(percent > 0))
		return;
	if (group->holder_call != NULL)
		lode_diagnosis_add_evidence(diagnosis, percent, "%",
			"its holder was in %s%s%s in %.0f %% of the looks", group->holder_call,
			place != NULL ? " at " : "", place != NULL ? place : "", percent);
	else
		lode_diagnosis_add_evidence(diagnosis, percent, "%",
			"its holder ran%s%s in %.0f %% of the looks", place != NULL ? " in " : "",
			place != NULL ? place : "", percent);
}

static void add_on_path(const Diagnosing *self, LodeDiagnosis *diagnosis, const Cause *cause)
{
	double percent = 100 * cause->high;

	if (!self->waits->has_path || !(percent >= 1))
		return;
	lode_diagnosis_add_evidence(diagnosis, percent, "%",
		"%.0f %% of the critical path, on which the end of the program depends, %s%s",
		percent,
		cause->first->reason == LODE_WAIT_LOCK || cause->first->reason == LODE_WAIT_JOIN ||
				cause->first->reason == LODE_WAIT_CONDITION
			? "was reached through these waits"
			: "are these waits",
		self->waits->path_sure < 0.7 ? " (probable: who ended the waits is not known)"
					     : "");
}

static void add_looks(const Diagnosing *self, LodeDiagnosis *diagnosis, const Cause *cause)
{
	double seen = self->waits->waiting_ns > 0 ? self->waits->seen_ns / self->waits->waiting_ns
	                                          : 1;

	if (cause->looks >= FEW_LOOKS)
		lode_diagnosis_add_evidence(diagnosis, cause->looks, "looks",
			"%.0f looks; what is waited for is known of %.0f %% of all waiting",
			cause->looks, 100 * MIN(seen, 1));
}

/* The instructions of the waiting line, which have next to no processor time. */
static void add_places(const Diagnosing *self, LodeDiagnosis *diagnosis)
{
	const LodeProfile *profile = self->profile;

	if (diagnosis->file == NULL || diagnosis->function == NULL)
		return;
	for (uint32_t i = 0; i < profile->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		if (g_strcmp0(function->name, diagnosis->function) != 0)
			continue;
		for (uint32_t k = 0; k < function->n_instructions; k++) {
			const LodeFindingPlace place = {function->first_instruction + k, 0};
			uint32_t line = lode_own_lines_find(self->own, place.instruction);
			const LodeLocation *location = line != LODE_NONE
			                                       ? &LODE_AT(profile->locations,
									 LodeLocation, line)
			                                       : NULL;
			if (location != NULL && location->line == diagnosis->line &&
				g_strcmp0(location->file, diagnosis->file) == 0)
				g_array_append_val(diagnosis->at, place);
		}
	}
}

static void take_place(LodeDiagnosis *diagnosis, const LodeWaitPlace *place)
{
	diagnosis->function = g_strdup(place->function);
	diagnosis->file = g_strdup(place->file);
	diagnosis->line = place->line;
}

/* Names what runs, or what the threads that are waited for wait for themselves. */
static void add_meanwhile(
	LodeDiagnosis *diagnosis, const Cause *cause, const GArray *groups, const Runs *runs)
{
	const LodeWaitGroup *other = find_other_wait(groups, cause, MOSTLY);
	g_autofree char *waiting = cause->first->place.function != NULL
	                                   ? place_text(&cause->first->place)
	                                   : NULL;
	g_autofree char *running = runs->place.function != NULL ? place_text(&runs->place) : NULL;

	if (running != NULL)
		lode_diagnosis_add_evidence(diagnosis, 100 * runs->share, "%",
			"%s runs while %s waits; it has %.0f %% of the time of the threads that do "
			"not wait",
			running, waiting != NULL ? waiting : "the other", 100 * runs->share);
	if (other != NULL) {
		g_autofree char *what = lode_wait_group_text(other);
		g_autofree char *where = other->place.function != NULL ? place_text(&other->place)
		                                                       : g_strdup("another thread");
		g_autofree char *time = time_text(other->waiting_ns);
		lode_diagnosis_add_evidence(diagnosis, other->waiting_ns / 1e9, "s",
			"meanwhile %s was %s for %s", where, what, time);
	}
}

static void add_processors(const Diagnosing *self, LodeDiagnosis *diagnosis, const Cause *cause)
{
	double ran = self->waits->running_ns / self->waits->clock_ns,
	       waited = cause->waiting_ns / self->waits->clock_ns;

	lode_diagnosis_add_evidence(diagnosis, ran + waited, "threads",
		"%.2g threads were ready to run on average, and %.2g of them ran", ran + waited,
		ran);
}

/* Where processes that sleep are waited for in code of the user's own, else where they wait. */
static const LodeWaitPlace *place_of_sleep(const Diagnosing *self, const Cause *cause)
{
	for (guint i = 0; i < self->causes->len; i++) {
		const LodeWaitGroup *other =
			((const Cause *)g_ptr_array_index(self->causes, i))->first;
		if (is_for_sleep(other) && foreign_parent(other) == NULL &&
			other->place.function != NULL)
			return &other->place;
	}
	return &cause->first->place;
}

static void add(
	const Diagnosing *self, LodeDiagnoses *out, const Cause *cause, const GArray *groups)
{
	const LodeWaits *waits = self->waits;
	const LodeCauseRule *rule = find_rule(self, cause, groups);
	bool is_pause = is_of_sleep(cause->first) || is_for_sleep(cause->first);
	Runs runs = {0};

	if (rule == NULL || rule->cause == NULL)
		return;
	LodeDiagnosis *diagnosis = lode_diagnosis_new(rule->cause, LODE_SCOPE_WAIT);
	diagnosis->object = cause->children.text != NULL ? g_strdup(cause->children.text)
	                    : is_pause                   ? sleep_text(self)
	                                                 : objects_text(cause);
	diagnosis->title = diagnosis->object != NULL
	                           ? g_strdup_printf("%s: %s", rule->title, diagnosis->object)
	                           : g_strdup(rule->title);
	diagnosis->explanation = g_strdup(rule->explanation);
	diagnosis->remedy = g_strdup(rule->remedy);
	diagnosis->source = g_strdup(rule->source);
	const char *named = is_of_object(cause->first) ? cause->first->object
	                                               : cause->first->place.function;
	const char *parent = foreign_parent(cause->first);
	named = parent != NULL ? parent : is_pause ? starter_of_sleep(self, NULL) : named;
	diagnosis->name = g_strdup_printf("%s@%s", rule->cause,
		named != NULL ? named : lode_wait_reason_to_text(cause->first->reason));
	if (is_serial(cause))
		runs = find_running(self, cause);
	if (parent == NULL)
		take_place(diagnosis, runs.place.function != NULL ? &runs.place
				      : is_of_sleep(cause->first) ? place_of_sleep(self, cause)
								  : &cause->first->place);
	diagnosis->clock = waits->running_ns + waits->waiting_ns > 0
	                           ? cause->waiting_ns / (waits->running_ns + waits->waiting_ns)
	                           : 0;
	diagnosis->clock_low = cause->low;
	diagnosis->clock_high = cause->high;
	if (is_serial(cause))
		add_meanwhile(diagnosis, cause, groups, &runs);
	if (cause->first->reason == LODE_WAIT_PROCESSOR)
		add_processors(self, diagnosis, cause);
	add_children(self, diagnosis, cause, parent);
	if (is_held_in_waits(cause))
		add_holder(diagnosis, cause->first);
	add_lengths(diagnosis, cause);
	if (!is_serial(cause) && !is_held_in_waits(cause))
		add_holder(diagnosis, cause->first);
	add_on_path(self, diagnosis, cause);
	add_looks(self, diagnosis, cause);
	add_places(self, diagnosis);
	diagnosis->places = cause->groups->len;
	diagnosis->functions = 1;
	g_ptr_array_add(out->diagnoses, diagnosis);
}

/* --- commands that are executed again and again --- */

/* What is saved without the repeats cannot be saved again side by side; what is left takes no
 * longer than its processes live. */
static void take_repeats(const Diagnosing *self, const LodeRepeats *repeats)
{
	const LodeWaitProcess *parent = process_at(self, repeats->parent);

	for (guint i = 0; i < self->causes->len; i++) {
		Cause *cause = g_ptr_array_index(self->causes, i);
		const char *waits = foreign_parent(cause->first);
		if (waits == NULL && cause->first->thread_names->len > 0)
			waits = g_ptr_array_index(cause->first->thread_names, 0);
		if (cause->first->reason != LODE_WAIT_CHILD || waits == NULL ||
			g_strcmp0(waits, parent->name) != 0)
			continue;
		double left_ns = cause->children.life_ns * cause->children.processes;
		cause->high = CLAMP(cause->high - repeats->high_ns / self->waits->clock_ns, 0,
			left_ns / self->waits->clock_ns);
		cause->low = isnan(cause->low) ? cause->low : fmin(cause->low, cause->high);
	}
}

/* What a shell was given by -c, in place of the shell with it. The caller frees it. */
static char *command_text(const char *command)
{
	static const char *const shells[] = {"sh", "bash", "dash", "ash", "ksh", "zsh", NULL};
	g_auto(GStrv) words = NULL;
	int n = 0;

	if (!g_shell_parse_argv(command, &n, &words, NULL) || n != 3 || strcmp(words[1], "-c") != 0)
		return g_strdup(command);
	const char *slash = strrchr(words[0], '/');
	return g_strdup(
		g_strv_contains(shells, slash != NULL ? slash + 1 : words[0]) ? words[2] : command);
}

/* "sh ×240, id ×120": those of one program together. The caller frees it. */
static char *programs_text(const Diagnosing *self, const LodeRepeats *repeats)
{
	g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < repeats->commands->len; i++) {
		const LodeRepeatedCommand *one = &LODE_AT(
			repeats->commands, LodeRepeatedCommand, i);
		char *name = (char *)name_or_unknown(process_at(self, one->first)->name);
		if (!g_hash_table_contains(sums, name))
			g_ptr_array_add(names, name);
		*lode_sum_at(sums, name) += one->processes;
	}
	for (guint i = 0; i < MIN(names->len, NAMED_OBJECTS); i++)
		g_string_append_printf(text, "%s%s ×%.0f", i > 0 ? ", " : "",
			(const char *)names->pdata[i],
			*(const double *)g_hash_table_lookup(sums, names->pdata[i]));
	if (names->len > NAMED_OBJECTS)
		g_string_append_printf(text, ", %u more", names->len - NAMED_OBJECTS);
	return g_string_free(text, FALSE);
}

static void add_commands(
	const Diagnosing *self, LodeDiagnosis *diagnosis, const LodeRepeats *repeats)
{
	const char *by = name_or_unknown(process_at(self, repeats->parent)->name);
	guint known = 0, alike = 0, n = repeats->commands->len;

	for (guint i = 0; i < n; i++) {
		const LodeRepeatedCommand *one = &LODE_AT(
			repeats->commands, LodeRepeatedCommand, i);
		g_autofree char *text = command_text(process_at(self, one->first)->command);
		if (i < NAMED_COMMANDS)
			lode_diagnosis_add_evidence(diagnosis, one->processes, "processes",
				"%s ran %s%.0f times: %s", by, one->is_exact ? "" : "about ",
				one->processes, text);
		known += one->same;
		alike += (guint)one->processes;
	}
	if (n > NAMED_COMMANDS)
		lode_diagnosis_add_evidence(diagnosis, n, "commands", "%u commands in all", n);
	if (known < alike)
		lode_diagnosis_add_evidence(diagnosis, known, "processes",
			"the arguments of %u of these %u were seen; the others are processes of "
			"the same program that started the same ones",
			known, alike);
	const LodeWaitProcess *first = process_at(
		self, LODE_AT(repeats->commands, LodeRepeatedCommand, 0).first);
	lode_diagnosis_add_evidence(diagnosis, repeats->low_ns / 1e9, "s",
		"in %s, with the same environment and input (%s); %u processes of %s in all",
		first->directory, first->input, repeats->started, by);
}

static void add_repeated(const Diagnosing *self, LodeDiagnoses *out, const LodeRepeats *repeats)
{
	const char *by = name_or_unknown(process_at(self, repeats->parent)->name);
	LodeCauseWords words = {0};

	lode_cause_rules_add_words(self->rules, "wait:child", &words);
	lode_cause_rules_add_words(self->rules, "wait-child:repeated", &words);
	if (strcmp(by, "make") == 0 || strcmp(by, "gmake") == 0)
		lode_cause_rules_add_words(self->rules, "wait-parent:make", &words);
	const LodeCauseRule *rule = lode_cause_rules_match(self->rules, &words, NULL, 0, NULL, 0);
	if (rule == NULL || rule->cause == NULL)
		return;
	LodeDiagnosis *diagnosis = lode_diagnosis_new(rule->cause, LODE_SCOPE_WAIT);
	diagnosis->object = programs_text(self, repeats);
	diagnosis->title = g_strdup_printf("%s: %s", rule->title, diagnosis->object);
	diagnosis->explanation = g_strdup(rule->explanation);
	diagnosis->remedy = g_strdup(rule->remedy);
	diagnosis->source = g_strdup(rule->source);
	diagnosis->name = g_strdup_printf("%s@%s", rule->cause, by);
	diagnosis->clock_high = MIN(repeats->high_ns / self->waits->clock_ns, 1);
	diagnosis->clock_low = repeats->at_once <= ONE_AT_A_TIME
	                               ? MIN(repeats->low_ns / self->waits->clock_ns,
						 diagnosis->clock_high)
	                               : (double)NAN;
	diagnosis->places = repeats->commands->len;
	diagnosis->functions = 1;
	add_commands(self, diagnosis, repeats);
	g_ptr_array_add(out->diagnoses, diagnosis);
}

/* Of waits for processes that sleep, and these processes' own, one is told: the latter, unless few
 * of them were seen. A parent that mostly waits for something else may be woken by a sleep's end.
 */
static bool is_told_by_other(const Diagnosing *self, const Cause *cause)
{
	bool is_parent = is_for_sleep(cause->first);

	if (is_parent && cause->high < MOSTLY)
		return true;
	for (guint i = 0; i < self->causes->len; i++) {
		const Cause *other = g_ptr_array_index(self->causes, i);
		if (is_parent && is_of_sleep(other->first) && other->high >= MOSTLY * cause->high)
			return true;
		if (is_of_sleep(cause->first) && is_for_sleep(other->first) &&
			other->high >= MOSTLY && cause->high < MOSTLY * other->high)
			return true;
	}
	return false;
}

static bool is_much(const Diagnosing *self)
{
	const LodeWaits *waits = self->waits;
	double most = 0;

	for (guint i = 0; i < self->causes->len; i++)
		most = MAX(most, ((const Cause *)g_ptr_array_index(self->causes, i))->high);
	return most >= MUCH_SAVED ||
	       (waits->has_path && waits->path_running_ns < (1 - MUCH_SAVED) * waits->clock_ns);
}

void lode_wait_diagnoses_add(LodeDiagnoses *out, const LodeProfile *profile, uint32_t event,
	const LodeOwnLines *own, const LodeCauseRules *rules)
{
	if (profile->waits == NULL || !(profile->waits->clock_ns > 0))
		return;
	g_autoptr(GPtrArray) causes = g_ptr_array_new_with_free_func(cause_free);
	g_autoptr(GArray) groups = lode_wait_groups_new(profile, own);
	g_autofree double *weights = NULL;
	g_autoptr(GArray) repeats = lode_repeats_new(
		profile, LODE_LEAST_BY_CLOCK * profile->waits->clock_ns, &weights);
	Diagnosing self = {profile, profile->waits, own, rules, event, causes, weights};

	gather(&self, groups);
	bool has_much = is_much(&self);
	for (guint i = 0; i < repeats->len && has_much; i++) {
		take_repeats(&self, &LODE_AT(repeats, LodeRepeats, i));
		add_repeated(&self, out, &LODE_AT(repeats, LodeRepeats, i));
	}
	for (guint i = 0; i < causes->len && has_much; i++) {
		const Cause *cause = g_ptr_array_index(causes, i);
		if (cause->high >= LODE_LEAST_BY_CLOCK && is_known(cause) &&
			cause->children.kind != LODE_CHILDREN_FEW && !is_under_lock(&self, cause) &&
			!is_told_by_other(&self, cause) && !is_for_waiting(&self, cause, groups))
			add(&self, out, cause, groups);
	}
}
