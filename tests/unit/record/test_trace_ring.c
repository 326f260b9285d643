/* SPDX-License-Identifier: MIT */
/* The plugin's end of the shared memory, in a child of ours, against lode's end. */
#include "record/qemu/trace_ring.h"
#include "tools/qemu_plugin/recorder.h"

#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_WAITING = TRACE_RING_CHUNKS + 100, NO_MORE_PROCESSES = 77 };
enum { N_THREADS = 4, N_EACH = 400 * 1000, N_SMALL = 50 * 1000, STEP = 8 };

static void *append_numbers(void *first)
{
	Recorder *recorder = recorder_current();
	uint64_t base = (uint64_t)(uintptr_t)first;

	for (uint64_t i = 0; i < N_EACH; i++)
		recorder_append(recorder, base + i * STEP, STEP, LODE_REFERENCE_LOAD);
	recorder_end();
	return NULL;
}

/* As a program does whose threads lock for each of them. */
static void *append_small_chunks(void *first)
{
	Recorder *recorder = recorder_current();
	uint64_t base = (uint64_t)(uintptr_t)first;

	for (uint64_t i = 0; i < N_SMALL; i++) {
		recorder_append(recorder, base + i * STEP, STEP, LODE_REFERENCE_LOAD);
		recorder_next_chunk(recorder);
	}
	recorder_end();
	return NULL;
}

static void run_threads(void *(*append)(void *first))
{
	pthread_t threads[N_THREADS];

	for (uintptr_t i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, append, (void *)(i << 40));
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void append_from_threads(void)
{
	run_threads(append_numbers);
}

static void append_small_from_threads(void)
{
	run_threads(append_small_chunks);
}

/* Processes that die one after the other, whatever they hold: no other one waits for them. */
static void fork_and_kill(void)
{
	enum { N_CHILDREN = 20, N_OF_CHILD = 1000 };

	for (int i = 0; i < N_CHILDREN; i++) {
		pid_t child = fork();
		for (uint64_t j = 0; child == 0 && j < N_OF_CHILD + (unsigned)i; j++)
			recorder_append(recorder_current(), j, 1, LODE_REFERENCE_LOAD);
		if (child == 0) {
			/* as if it had been killed with the lock */
			pthread_mutex_lock(&recorder_ring()->lock);
			raise(SIGKILL);
		}
		waitpid(child, NULL, 0);
		recorder_append(recorder_current(), 7, 1, LODE_REFERENCE_FETCH);
		recorder_next_chunk(recorder_current());
	}
}

/* Dies with a chunk that is not full. */
/* More processes at a time than there are chunks, each of which waits until all have begun. */
static void begin_many_and_wait(void)
{
	int gate[2];
	char byte;

	if (pipe(gate) != 0)
		_exit(1);
	for (int i = 0; i < N_WAITING; i++) {
		pid_t child = fork();
		if (child < 0)
			_exit(NO_MORE_PROCESSES);
		if (child > 0)
			continue;
		close(gate[1]);
		recorder_append(recorder_current(), 0, 1, LODE_REFERENCE_LOAD);
		recorder_rest(recorder_current());
		if (read(gate[0], &byte, 1) != 0)
			_exit(1);
		recorder_append(recorder_current(), 1, 1, LODE_REFERENCE_LOAD);
		recorder_end();
		_exit(0);
	}
	close(gate[1]);
	for (int i = 0; i < N_WAITING; i++)
		wait(NULL);
}

static void append_and_die(void)
{
	Recorder *recorder = recorder_current();

	for (uint64_t i = 0; i < TRACE_CHUNK_WORDS + 10; i++)
		recorder_append(recorder, i * STEP, STEP, LODE_REFERENCE_STORE);
	raise(SIGKILL);
}

static void tell_and_fork(void)
{
	const TraceEvent event = {.start = 4096, .size = 8192, .path = "/some/file"};
	Recorder *recorder = recorder_current();

	recorder_append(recorder, 1, 1, LODE_REFERENCE_FETCH);
	recorder_send_event(recorder, TRACE_EVENT_MAP, &event, true);
	recorder_append(recorder, 2, 1, LODE_REFERENCE_FETCH);
	pid_t child = fork();
	/* what is open stays the parent's, and is ended by it */
	for (int i = 0; child == 0 && i < N_EACH; i++)
		recorder_append(recorder, 3, 1, LODE_REFERENCE_FETCH);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	recorder_append(recorder, 4, 1, LODE_REFERENCE_FETCH);
}

static void fork_alone(void)
{
	pid_t child = fork();

	for (int i = 0; child == 0 && i < N_EACH; i++)
		recorder_append(recorder_current(), 3, 1, LODE_REFERENCE_FETCH);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	recorder_append(recorder_current(), 4, 1, LODE_REFERENCE_FETCH);
}

static void write_nonsense(void)
{
	TraceRing *ring = recorder_ring();
	Recorder *recorder = recorder_current();

	recorder_append(recorder, 1, 1, LODE_REFERENCE_FETCH);
	recorder->chunk->words[0] = UINT64_MAX;
	recorder->chunk->n = UINT32_MAX;
	recorder_next_chunk(recorder);
	atomic_store(&ring->queue[1], UINT32_MAX);
	atomic_store(&ring->next_stamp, 2);
}

/* Tells of more chunks than anybody could look for. */
static void write_far_stamp(void)
{
	recorder_append(recorder_current(), 1, 1, LODE_REFERENCE_FETCH);
	recorder_next_chunk(recorder_current());
	recorder_append(recorder_current(), 2, 1, LODE_REFERENCE_FETCH);
	atomic_store(&recorder_ring()->next_stamp, UINT64_MAX);
}

static pid_t start_following(const LodeTraceRing *ring, void (*act)(void), bool follows)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	if (!recorder_connect(lode_trace_ring_path(ring), follows))
		_exit(1);
	act();
	_exit(0);
}

static pid_t start(const LodeTraceRing *ring, void (*act)(void))
{
	return start_following(ring, act, true);
}

typedef void (*See)(const LodeTraceRingChunk *chunk, void *data);

/* Reads while the child writes, until `until` chunks came, or it has ended. */
static int read_all(LodeTraceRing *ring, pid_t child, See see, void *data)
{
	g_autofree LodeTraceRingChunk *chunk = g_new(LodeTraceRingChunk, 1);
	int status = -1;

	for (;;) {
		bool has_ended = lode_trace_ring_has_ended(ring);
		if (lode_trace_ring_next(ring, chunk))
			see(chunk, data);
		else if (has_ended)
			break;
		if (!has_ended && waitpid(child, &status, WNOHANG) == child)
			lode_trace_ring_end(ring);
	}
	while (lode_trace_ring_take_rest(ring, 0, chunk))
		see(chunk, data);
	return status;
}

static void expect_next_numbers(const LodeTraceRingChunk *chunk, void *data)
{
	uint64_t *n = data;

	/* the last one of a thread that ended just then */
	if (chunk->n == 0)
		return;
	uint64_t thread = lode_word_address(chunk->words[0]) >> 40;
	g_assert_cmpuint(thread, <, N_THREADS);
	for (uint32_t i = 0; i < chunk->n; i++, n[thread]++) {
		g_assert_cmpuint(
			lode_word_address(chunk->words[i]), ==, (thread << 40) + n[thread] * STEP);
		g_assert_cmpuint((guint)lode_word_kind(chunk->words[i]), ==, LODE_REFERENCE_LOAD);
	}
}

static void test_threads(void)
{
	g_autoptr(LodeTraceRing) ring = lode_trace_ring_new(NULL);
	uint64_t n[N_THREADS] = {0};

	int status = read_all(ring, start(ring, append_from_threads), expect_next_numbers, n);
	g_assert_cmpint(status, ==, 0);
	for (int i = 0; i < N_THREADS; i++)
		g_assert_cmpuint(n[i], ==, N_EACH);
}

/* Chunks go round so fast that a thread without the processor meets others' next round. */
static void test_small_chunks(void)
{
	g_autoptr(LodeTraceRing) ring = lode_trace_ring_new(NULL);
	uint64_t n[N_THREADS] = {0};

	int status = read_all(ring, start(ring, append_small_from_threads), expect_next_numbers, n);
	g_assert_cmpint(status, ==, 0);
	for (int i = 0; i < N_THREADS; i++)
		g_assert_cmpuint(n[i], ==, N_SMALL);
}

static void count(const LodeTraceRingChunk *chunk, void *data)
{
	for (uint32_t i = 0; i < chunk->n; i++, (*(uint64_t *)data)++)
		g_assert_cmpuint(lode_word_address(chunk->words[i]), ==, *(uint64_t *)data * STEP);
}

static void test_killed(void)
{
	g_autoptr(LodeTraceRing) ring = lode_trace_ring_new(NULL);
	uint64_t n = 0;

	int status = read_all(ring, start(ring, append_and_die), count, &n);
	g_assert_true(WIFSIGNALED(status));
	g_assert_cmpuint(n, ==, TRACE_CHUNK_WORDS + 10);
}

/* What a forked process adds is its own. */
static void write_down(const LodeTraceRingChunk *chunk, void *data)
{
	if (chunk->process == 1 && chunk->event == TRACE_EVENT_PROCESS)
		g_string_append_printf(data, "fork-of-%" G_GUINT64_FORMAT " ", chunk->details.size);
	if (chunk->process != 0)
		return;
	for (uint32_t i = 0; i < chunk->n; i++)
		g_string_append_printf(
			data, "%" G_GUINT64_FORMAT " ", lode_word_address(chunk->words[i]));
	if (chunk->event == TRACE_EVENT_MAP)
		g_string_append_printf(data, "%s ", chunk->details.path);
}

static void test_events_and_fork(void)
{
	g_autoptr(LodeTraceRing) ring = lode_trace_ring_new(NULL);
	g_autoptr(GString) seen = g_string_new(NULL);

	g_assert_cmpint(read_all(ring, start(ring, tell_and_fork), write_down, seen), ==, 0);
	g_assert_cmpstr(seen->str, ==, "1 /some/file fork-of-0 2 4 ");
}

static void see_any(const LodeTraceRingChunk *chunk, void *data)
{
	GArray *counts = data;

	if (chunk->process >= counts->len)
		g_array_set_size(counts, chunk->process + 1);
	g_array_index(counts, uint64_t, chunk->process) += chunk->n;
}

static void test_not_followed(void)
{
	g_autoptr(LodeTraceRing) ring = lode_trace_ring_new(NULL);
	g_autoptr(GArray) counts = g_array_new(FALSE, TRUE, sizeof(uint64_t));

	read_all(ring, start_following(ring, fork_alone, false), see_any, counts);
	g_assert_cmpuint(counts->len, ==, 1);
	g_assert_cmpuint(g_array_index(counts, uint64_t, 0), ==, 1);
}

static void test_killed_children(void)
{
	g_autoptr(LodeTraceRing) ring = lode_trace_ring_new(NULL);
	g_autofree LodeTraceRingChunk *chunk = g_new(LodeTraceRingChunk, 1);
	g_autoptr(GArray) counts = g_array_new(FALSE, TRUE, sizeof(uint64_t));

	g_assert_cmpint(read_all(ring, start(ring, fork_and_kill), see_any, counts), ==, 0);
	g_assert_cmpuint(counts->len, ==, 21);
	g_assert_cmpuint(g_array_index(counts, uint64_t, 0), ==, 20);
	for (uint32_t i = 1; i < counts->len; i++) {
		while (lode_trace_ring_take_rest(ring, i, chunk))
			see_any(chunk, counts);
		g_assert_cmpuint(g_array_index(counts, uint64_t, i), ==, 1000 + i - 1);
	}
}

static void test_many_waiting(void)
{
	g_autoptr(LodeTraceRing) ring = lode_trace_ring_new(NULL);
	g_autoptr(GArray) counts = g_array_new(FALSE, TRUE, sizeof(uint64_t));

	int status = read_all(ring, start(ring, begin_many_and_wait), see_any, counts);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_MORE_PROCESSES) {
		g_test_skip("so many processes are not allowed");
		return;
	}
	g_assert_cmpint(status, ==, 0);
	g_assert_cmpuint(counts->len, ==, 1 + N_WAITING);
	for (uint32_t i = 1; i < counts->len; i++)
		g_assert_cmpuint(g_array_index(counts, uint64_t, i), ==, 2);
}

/* Memory that a program has overwritten: nothing of it is believed. */
static void test_nonsense(void)
{
	g_autoptr(LodeTraceRing) ring = lode_trace_ring_new(NULL);
	g_autoptr(GString) seen = g_string_new(NULL);

	read_all(ring, start(ring, write_nonsense), write_down, seen);
	g_assert_false(g_str_has_prefix(seen->str, "1 "));
}

static void test_far_stamp(void)
{
	g_autoptr(LodeTraceRing) ring = lode_trace_ring_new(NULL);
	g_autoptr(GString) seen = g_string_new(NULL);

	read_all(ring, start(ring, write_far_stamp), write_down, seen);
	g_assert_cmpstr(seen->str, ==, "1 2 ");
}

/* Nobody empties it: the child goes on all the same. */
static void test_stopped(void)
{
	g_autoptr(LodeTraceRing) ring = lode_trace_ring_new(NULL);
	int status = -1;

	pid_t child = start(ring, append_from_threads);
	lode_trace_ring_stop(ring);
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	g_assert_cmpint(status, ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/trace_ring/threads", test_threads);
	g_test_add_func("/trace_ring/small_chunks", test_small_chunks);
	g_test_add_func("/trace_ring/killed", test_killed);
	g_test_add_func("/trace_ring/events_and_fork", test_events_and_fork);
	g_test_add_func("/trace_ring/not_followed", test_not_followed);
	g_test_add_func("/trace_ring/killed_children", test_killed_children);
	g_test_add_func("/trace_ring/many_waiting", test_many_waiting);
	g_test_add_func("/trace_ring/nonsense", test_nonsense);
	g_test_add_func("/trace_ring/far_stamp", test_far_stamp);
	g_test_add_func("/trace_ring/stopped", test_stopped);
	return g_test_run();
}
