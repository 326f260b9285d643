/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/waits/run_time_threads.h"

#include "ingest/waits/wait_words.h"
#include "model/index.h"
#include "model/lines/own_lines.h"
#include "model/process.h"

#include <string.h>

static void find_named(const LodeThreads *threads, bool *are_own)
{
	g_autoptr(GHashTable) run_times = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < threads->threads->len; i++) {
		const LodeThread *thread = &LODE_AT(threads->threads, LodeThread, i);
		unsigned found = thread->name != NULL ? lode_wait_run_time_find(thread->name) : 0;
		if (found > 0)
			g_hash_table_insert(
				run_times, GUINT_TO_POINTER(thread->pid), GUINT_TO_POINTER(found));
	}
	for (guint i = 0; i < threads->threads->len; i++) {
		const LodeThread *thread = &LODE_AT(threads->threads, LodeThread, i);
		void *found = g_hash_table_lookup(run_times, GUINT_TO_POINTER(thread->pid));
		are_own[i] = found != NULL && thread->name != NULL &&
		             lode_wait_run_time_has(GPOINTER_TO_UINT(found), thread->name,
				     thread->pid == thread->tid);
	}
}

/* Where a thread was seen. */
enum { IN_RUN_TIME = 1, IN_OWN_CODE = 2 };

static unsigned *judge_frames(const LodeStacks *stacks)
{
	unsigned *seen = g_new0(unsigned, (gsize)stacks->frames->len + 1);

	for (guint i = 0; i < stacks->frames->len; i++) {
		const char *image = LODE_AT(stacks->frames, LodeFrame, i).image;
		if (image == NULL || strcmp(image, "[kernel]") == 0 ||
			lode_is_system_library(image))
			continue;
		seen[i] = lode_is_run_time_program(image) ? IN_RUN_TIME : IN_OWN_CODE;
	}
	return seen;
}

typedef struct {
	const LodeStacks *stacks;
	unsigned *of_frame;
	GHashTable *threads; /* uint64_t pid << 32 | tid → where it was seen */
} Seen;

static void see(Seen *self, uint32_t pid, uint32_t tid, uint32_t stack)
{
	uint64_t key = (uint64_t)pid << 32 | tid;
	unsigned seen = GPOINTER_TO_UINT(g_hash_table_lookup(self->threads, &key));

	while (stack != LODE_NONE) {
		const LodeStack *row = &LODE_AT(self->stacks->stacks, LodeStack, stack);
		seen |= self->of_frame[row->frame];
		stack = row->outer;
	}
	g_hash_table_replace(self->threads, g_memdup2(&key, sizeof(key)), GUINT_TO_POINTER(seen));
}

static void see_all(Seen *self, const LodeWaits *waits)
{
	for (guint i = 0; i < self->stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(self->stacks->samples, LodeStackSample, i);
		const LodeStackThread *thread = &LODE_AT(
			self->stacks->threads, LodeStackThread, sample->thread);
		see(self, thread->pid, thread->tid, sample->stack);
	}
	for (guint i = 0; i < waits->rows->len; i++) {
		const LodeWait *row = &LODE_AT(waits->rows, LodeWait, i);
		see(self, row->pid, row->tid, row->stack);
	}
}

static void find_seen(
	const LodeThreads *threads, const LodeStacks *stacks, const LodeWaits *waits, bool *are_own)
{
	g_autofree unsigned *of_frame = judge_frames(stacks);
	g_autoptr(GHashTable)
		seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	Seen self = {stacks, of_frame, seen};

	see_all(&self, waits);
	for (guint i = 0; i < threads->threads->len; i++) {
		const LodeThread *thread = &LODE_AT(threads->threads, LodeThread, i);
		uint64_t key = (uint64_t)thread->pid << 32 | thread->tid;
		are_own[i] |= thread->pid != thread->tid &&
		              GPOINTER_TO_UINT(g_hash_table_lookup(seen, &key)) == IN_RUN_TIME;
	}
}

bool *lode_run_time_threads_new(
	const LodeThreads *threads, const LodeStacks *stacks, const LodeWaits *waits)
{
	bool *are_own = g_new0(bool, (gsize)threads->threads->len + 1);

	find_named(threads, are_own);
	if (stacks != NULL)
		find_seen(threads, stacks, waits, are_own);
	return are_own;
}

bool lode_run_time_threads_have(
	const LodeThreads *threads, const bool *are_own, const LodeWait *row)
{
	uint32_t thread = lode_threads_look_up(threads, row->pid, row->tid, UINT64_MAX);

	return thread != LODE_NONE && are_own[thread];
}
