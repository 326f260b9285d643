/* SPDX-License-Identifier: MIT */
#include "record/waits/wait_looker.h"

#include "base/monotonic_clock.h"
#include "base/quiet_thread.h"
#include "record/waits/look_record.h"
#include "record/waits/looks.h"
#include "record/waits/script_looks.h"
#include "sources/perf_data/script_look.h"
#include "sources/perf_data/wait_look.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Between two looks, on average; and where the last one was at the frames of a script: as often as
 * the share below allows. */
enum { LOOK_US = 5000, SCRIPT_US = 3000 };

/* Threads that are passed by, as they wait as before, before a look is over. */
enum { MOST_PASSED = 64 };

/* The threads are listed at least so often while they are few and new ones come, and later. */
enum { FIRST_LISTS = 20, FIRST_LIST_US = 10 * 1000, LIST_US = 50 * 1000 };

/* The share of a processor that looks, and lists, may take each; and what looks may take at once,
 * before they make up for it by a longer pause. What they may take of a program at first is enough
 * to know one that ends after some tenths of a second: 2 ms were three looks at one that mostly
 * waited for its disk for 0.2 s. */
#define LOOKS_SHARE 0.005
#define LISTS_SHARE 0.0025
#define BURST_US 2000.0
#define FIRST_US 8000.0

/* Threads whose files are kept open, of which each has two; and the part of the descriptors that
 * lode may have in all. */
enum { MOST_KEPT_OPEN = 100, PART_OF_DESCRIPTORS = 16 };

enum { STACK_BYTES = 8192, MOST_THREADS = 1 << 16 };

#define MOST_STACKS_BYTES (UINT64_C(32) << 20)

enum { QUEUE_BYTES = 16 << 20 };

struct LodeWaitLooker {
	LodeProcessTree tree;
	bool has_waits, has_scripts;
	LodePerfChoice choice, script_choice;
	GThread *thread;
	GMutex mutex;
	GCond changed;
	bool is_on, is_over; /* these, and all down to the tally, under the mutex */
	GByteArray *queue;
	LodeWaitLookerTally tally;
	/* Of the thread alone. */
	GHashTable *processes; /* pid → LodeLookedProcess */
	GPtrArray *threads;    /* LodeLookedThread, in the order of looks */
	GHashTable *known;     /* tid → LodeLookedThread, of those */
	guint next;
	guint n_kept_open, most_kept_open;
	GRand *random;
	LodeLookOutput output;
	LodeScriptSearch scripts;
	LodeCommandLooks *commands;
	bool runs_script; /* the thread at the last look; or it had started a process */
	gint64 list_at_us;
	uint64_t lists_ns, charged_ns; /* processor time of listings; of looks, when last charged */
	unsigned n_lists;
	double allowed_us; /* of processor time, for looks at this moment */
	gint64 allowed_at_us;
};

static void free_process(void *data)
{
	lode_looked_process_free(data);
}

static void free_thread(void *data)
{
	lode_looked_thread_free(data);
}

static void init_choice(LodePerfChoice *self, const char *name, uint64_t id)
{
	self->name = g_strdup(name);
	self->ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->is_aside = true;
	g_array_append_val(self->ids, id);
}

static void clear_choice(LodePerfChoice *self)
{
	g_free(self->name);
	g_array_unref(self->ids);
}

LodeWaitLooker *lode_wait_looker_new(const LodeProcessTree *tree, bool has_waits, bool has_scripts)
{
	LodeWaitLooker *self = g_new0(LodeWaitLooker, 1);
	struct rlimit limit;

	self->tree = *tree;
	self->has_waits = has_waits;
	self->has_scripts = has_scripts;
	init_choice(&self->choice, LODE_WAITING_EVENT, LODE_WAITING_ID);
	init_choice(&self->script_choice, LODE_SCRIPT_EVENT, LODE_SCRIPT_ID);
	lode_look_record_attribute(&self->script_choice.attr);
	lode_script_search_init(&self->scripts);
	lode_look_attribute(&self->choice.attr, STACK_BYTES);
	g_mutex_init(&self->mutex);
	g_cond_init(&self->changed);
	self->queue = g_byte_array_new();
	self->commands = lode_command_looks_new();
	self->processes = g_hash_table_new_full(NULL, NULL, NULL, free_process);
	self->threads = g_ptr_array_new_with_free_func(free_thread);
	self->known = g_hash_table_new(NULL, NULL);
	self->random = g_rand_new_with_seed((guint32)tree->pid);
	self->output = (LodeLookOutput){.stack_bytes = STACK_BYTES,
		.n_stack_bytes = MOST_STACKS_BYTES,
		.records = g_byte_array_new()};
	self->allowed_us = FIRST_US;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		self->most_kept_open = (guint)MIN(
			MOST_KEPT_OPEN, limit.rlim_cur / PART_OF_DESCRIPTORS / 2);
	return self;
}

void lode_wait_looker_free(LodeWaitLooker *self)
{
	if (self == NULL)
		return;
	lode_wait_looker_end(self);
	clear_choice(&self->choice);
	clear_choice(&self->script_choice);
	g_mutex_clear(&self->mutex);
	g_cond_clear(&self->changed);
	g_byte_array_unref(self->queue);
	g_ptr_array_unref(self->threads);
	g_hash_table_unref(self->processes);
	lode_command_looks_free(self->commands);
	lode_script_search_clear(&self->scripts);
	g_hash_table_unref(self->known);
	g_rand_free(self->random);
	g_byte_array_unref(self->output.records);
	g_free(self);
}

LodePerfChoice *lode_wait_looker_choice(const LodeWaitLooker *self)
{
	return self->has_waits ? (LodePerfChoice *)&self->choice : NULL;
}

LodePerfChoice *lode_wait_looker_script_choice(const LodeWaitLooker *self)
{
	return (LodePerfChoice *)&self->script_choice;
}

/* --- the threads --- */

static LodeLookedProcess *find_process(LodeWaitLooker *self, pid_t pid)
{
	LodeLookedProcess *found = g_hash_table_lookup(self->processes, GINT_TO_POINTER(pid));

	if (found != NULL)
		return found;
	found = lode_looked_process_new(pid);
	found->scripts = lode_script_looks_new(pid, &self->scripts);
	g_hash_table_insert(self->processes, GINT_TO_POINTER(pid), found);
	return found;
}

static void drop_thread(LodeWaitLooker *self, guint index)
{
	const LodeLookedThread *thread = self->threads->pdata[index];

	self->n_kept_open -= thread->calls >= 0 || thread->runs >= 0;
	g_hash_table_remove(self->known, GINT_TO_POINTER(thread->tid));
	g_ptr_array_remove_index_fast(self->threads, index);
}

static void add_thread(LodeWaitLooker *self, LodeLookedProcess *process, pid_t tid)
{
	LodeLookedThread *thread = g_hash_table_lookup(self->known, GINT_TO_POINTER(tid));
	guint index;

	/* The number of one that has ended may be that of a thread of another process. */
	if (thread != NULL && thread->process != process &&
		g_ptr_array_find(self->threads, thread, &index)) {
		drop_thread(self, index);
		thread = NULL;
	}
	if (thread == NULL && self->threads->len < MOST_THREADS) {
		thread = lode_looked_thread_new(
			process, tid, self->n_kept_open < self->most_kept_open, lode_now_ns());
		self->n_kept_open += thread->calls >= 0 || thread->runs >= 0;
		g_ptr_array_add(self->threads, thread);
		g_hash_table_insert(self->known, GINT_TO_POINTER(tid), thread);
	}
	if (thread != NULL)
		thread->listed = self->n_lists;
}

static void list_threads_of(LodeWaitLooker *self, pid_t pid)
{
	char path[64];
	const struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *listing = opendir(path);
	if (listing == NULL)
		return;
	LodeLookedProcess *process = find_process(self, pid);
	process->listed = self->n_lists;
	if (self->has_waits)
		lode_command_looks_take(self->commands, pid, self->n_lists, self->output.records);
	while ((entry = readdir(listing)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid > 0)
			add_thread(self, process, tid);
	}
	closedir(listing);
}

static gboolean is_not_listed(void *pid, void *process, void *looker)
{
	(void)pid;
	return ((const LodeLookedProcess *)process)->listed !=
	       ((const LodeWaitLooker *)looker)->n_lists;
}

/* Threads that are in no process of the list any more have ended, and then such processes. */
static void drop_ended(LodeWaitLooker *self)
{
	for (guint i = self->threads->len; i-- > 0;) {
		if (((const LodeLookedThread *)self->threads->pdata[i])->listed != self->n_lists)
			drop_thread(self, i);
	}
	g_hash_table_foreach_remove(self->processes, is_not_listed, self);
	lode_command_looks_forget(self->commands, self->n_lists);
}

static void list_threads(LodeWaitLooker *self, gint64 now_us)
{
	uint64_t begin_ns = lode_thread_ns();
	g_autoptr(GArray) processes = lode_process_tree_list(&self->tree, "/proc");

	self->n_lists++;
	for (guint i = 0; i < processes->len; i++)
		list_threads_of(self, g_array_index(processes, pid_t, i));
	drop_ended(self);
	uint64_t took_ns = lode_thread_ns() - begin_ns;
	double took_us = (double)took_ns / 1e3;
	self->lists_ns += took_ns;
	gint64 usual_us = self->n_lists < FIRST_LISTS ? FIRST_LIST_US : LIST_US;
	self->list_at_us = now_us + MAX(usual_us, (gint64)(took_us / LISTS_SHARE));
}

/* --- looks --- */

static void count(LodeWaitLooker *self, LodeLookOutcome outcome)
{
	GByteArray *records = self->output.records;

	g_mutex_lock(&self->mutex);
	self->tally.n_looks += outcome == LODE_LOOK_DONE || outcome == LODE_LOOK_REFUSED;
	self->tally.n_refused += outcome == LODE_LOOK_REFUSED;
	if (self->queue->len + records->len <= QUEUE_BYTES)
		g_byte_array_append(self->queue, records->data, records->len);
	else
		self->tally.n_dropped++;
	g_mutex_unlock(&self->mutex);
	g_byte_array_set_size(records, 0);
}

/* At the next thread that runs, or waits otherwise than at its last look. */
static void look_at_next(LodeWaitLooker *self)
{
	self->runs_script = false;
	for (guint i = 0; i < MIN(MOST_PASSED, self->threads->len); i++) {
		self->next = self->next + 1 < self->threads->len ? self->next + 1 : 0;
		LodeLookedThread *thread = self->threads->pdata[self->next];
		LodeLookOutcome outcome = self->has_waits
		                                  ? lode_looked_thread_look(thread, &self->output)
		                                  : lode_looked_thread_peek(thread);
		if (self->has_scripts &&
			(outcome == LODE_LOOK_RUNNING || outcome == LODE_LOOK_DONE))
			self->runs_script = lode_script_looks_take(thread->process->scripts,
				thread->tid, outcome == LODE_LOOK_DONE, self->output.records);
		if (outcome == LODE_LOOK_DONE)
			self->runs_script |= lode_command_looks_take_children(self->commands,
				thread->process->pid, thread->tid, self->output.records);
		if (self->output.records->len > 0)
			count(self, outcome);
		if (outcome == LODE_LOOK_GONE)
			drop_thread(self, self->next);
		else if (outcome != LODE_LOOK_SAME)
			return;
	}
}

/* The time of looks, and of waking up for them, which takes as much. A file of an interpreter is
 * read once, and no look would be for a second after it. */
static uint64_t spent_ns(const LodeWaitLooker *self)
{
	return lode_thread_ns() - self->scripts.files.spent_ns - self->lists_ns;
}

static void look(LodeWaitLooker *self, gint64 now_us)
{
	double earned_us = (double)(now_us - self->allowed_at_us) * LOOKS_SHARE;

	look_at_next(self);
	uint64_t now_ns = spent_ns(self);
	if (self->allowed_us < BURST_US)
		self->allowed_us = MIN(self->allowed_us + earned_us, BURST_US);
	self->allowed_us -= (double)(now_ns - self->charged_ns) / 1e3;
	self->charged_ns = now_ns;
	self->allowed_at_us = now_us;
}

/* Whether it goes on after the pause. */
static bool pause_between(LodeWaitLooker *self)
{
	double usual_us = (self->runs_script ? SCRIPT_US : LOOK_US) *
	                  g_rand_double_range(self->random, 0.5, 1.5);
	gint64 until_us = g_get_monotonic_time() +
	                  (gint64)MAX(usual_us, -self->allowed_us / LOOKS_SHARE);

	g_mutex_lock(&self->mutex);
	while (!self->is_over && (!self->is_on || g_get_monotonic_time() < until_us)) {
		if (self->is_on)
			g_cond_wait_until(&self->changed, &self->mutex, until_us);
		else
			g_cond_wait(&self->changed, &self->mutex);
	}
	bool is_over = self->is_over;
	g_mutex_unlock(&self->mutex);
	return !is_over;
}

static void *run(void *data)
{
	LodeWaitLooker *self = data;

	self->allowed_at_us = g_get_monotonic_time();
	while (pause_between(self)) {
		gint64 now_us = g_get_monotonic_time();
		if (now_us >= self->list_at_us)
			list_threads(self, now_us);
		look(self, now_us);
	}
	g_mutex_lock(&self->mutex);
	self->tally.spent_ns = lode_thread_ns();
	g_mutex_unlock(&self->mutex);
	return NULL;
}

void lode_wait_looker_tell_running(LodeWaitLooker *self)
{
	self->output.tells_running = true;
}

void lode_wait_looker_begin(LodeWaitLooker *self, bool is_on)
{
	self->is_on = is_on;
	self->thread = lode_quiet_thread_new("looks at waits", run, self);
}

void lode_wait_looker_switch(LodeWaitLooker *self, bool is_on)
{
	g_mutex_lock(&self->mutex);
	self->is_on = is_on;
	g_cond_signal(&self->changed);
	g_mutex_unlock(&self->mutex);
}

GByteArray *lode_wait_looker_take(LodeWaitLooker *self)
{
	GByteArray *fresh = g_byte_array_new();

	g_mutex_lock(&self->mutex);
	GByteArray *taken = self->queue;
	self->queue = fresh;
	g_mutex_unlock(&self->mutex);
	return taken;
}

LodeWaitLookerTally lode_wait_looker_end(LodeWaitLooker *self)
{
	if (self->thread != NULL) {
		g_mutex_lock(&self->mutex);
		self->is_over = true;
		g_cond_signal(&self->changed);
		g_mutex_unlock(&self->mutex);
		g_thread_join(self->thread);
		self->thread = NULL;
	}
	return self->tally;
}

void lode_wait_looker_add_note(const LodeWaitLooker *self, GString *note)
{
	if (self->scripts.unread != NULL)
		lode_perf_note(note,
			"'%s' is of a version, or built in a way, that lode does not read: the "
			"interpreter's functions are shown, not the script's",
			self->scripts.unread);
}
