/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	CHECK_NS = 100 * 1000 * 1000, /* how often one who waits looks whether lode is still there
	                               */
	POLL_NS = 20 * 1000,
	MOST_THREADS = TRACE_RING_CHUNKS / 2,
};

static TraceRing *ring;
static TraceChunk nowhere;
static Recorder nobody = {.chunk = &nowhere, .is_shared = true};
static atomic_bool is_off, has_threads;
static atomic_uint n_recorders, n_threads;

/* In the part of thread-local storage that is there from the start: QEMU loads us early. */
static __thread Recorder *current __attribute__((tls_model("initial-exec")));

TraceRing *recorder_ring(void)
{
	return ring;
}

bool recorder_is_off(void)
{
	return atomic_load_explicit(&is_off, memory_order_relaxed);
}

void recorder_expect_threads(void)
{
	atomic_store(&has_threads, true);
}

bool recorder_has_threads(void)
{
	return atomic_load_explicit(&has_threads, memory_order_relaxed);
}

/* A forked process has the memory too, which stays its parent's. */
static void go_off_in_child(void)
{
	atomic_store(&is_off, true);
	if (current != NULL)
		current->chunk = &nowhere;
}

bool recorder_connect(const char *path)
{
	int descriptor = open(path, O_RDWR | O_CLOEXEC);
	void *place = MAP_FAILED;

	if (descriptor < 0)
		return false;
	if (lseek(descriptor, 0, SEEK_END) == (off_t)sizeof(TraceRing))
		place = mmap(
			NULL, sizeof(TraceRing), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	close(descriptor);
	if (place == MAP_FAILED)
		return false;
	ring = place;
	return ring->magic == TRACE_RING_MAGIC && pthread_atfork(NULL, NULL, go_off_in_child) == 0;
}

/* Where lode has died, the program goes on alone. */
static bool is_wanted(void)
{
	if (!recorder_is_off() &&
		(atomic_load(&ring->has_stopped) != 0 || getppid() != ring->reader_pid))
		atomic_store(&is_off, true);
	return !recorder_is_off();
}

static bool wait_for_room(void)
{
	struct timespec until;

	for (;;) {
		if (sem_trywait(&ring->n_free) == 0)
			return true;
		if (!is_wanted())
			return false;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += CHECK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (sem_clockwait(&ring->n_free, CLOCK_MONOTONIC, &until) == 0)
			return true;
	}
}

/*
 * The semaphore has counted one that is free for us. Chunks are freed in about the order in which
 * they were taken, so that the next one mostly is; a thread that loses the processor here keeps
 * nobody else from going on, and takes none that was given away meanwhile.
 */
static TraceChunk *take_free(void)
{
	if (!is_wanted() || !wait_for_room())
		return &nowhere;
	for (;;) {
		uint64_t ticket = atomic_fetch_add(&ring->next_free, 1);
		TraceChunk *chunk = &ring->chunks[ticket % TRACE_RING_CHUNKS];
		uint32_t state = TRACE_CHUNK_FREE;

		if (atomic_compare_exchange_strong(&chunk->state, &state, TRACE_CHUNK_TAKEN))
			return chunk;
	}
}

static void open_chunk(Recorder *self, TraceEventKind event)
{
	TraceChunk *chunk = take_free();

	if (chunk != &nowhere) {
		chunk->thread = self->thread;
		chunk->tid = self->tid;
		chunk->event = event;
		atomic_store(&chunk->n, 0);
		atomic_store(&chunk->opened, atomic_fetch_add(&ring->next_opened, 1));
		atomic_store(&chunk->state, TRACE_CHUNK_OPEN);
	}
	self->chunk = chunk;
	self->instruction = RECORDER_NO_INSTRUCTION;
	self->last = 0;
}

/* Its stamp; 0 for none. */
static uint64_t end_chunk(Recorder *self)
{
	TraceChunk *chunk = self->chunk;

	if (chunk == &nowhere) {
		recorder_set_n(self, 0);
		return 0;
	}
	uint64_t stamp = atomic_fetch_add(&ring->next_stamp, 1);
	atomic_store(&chunk->state, TRACE_CHUNK_ENDED);
	atomic_store(&ring->queue[stamp % TRACE_RING_CHUNKS], (uint32_t)(chunk - ring->chunks) + 1);
	sem_post(&ring->n_queued);
	return stamp + 1;
}

void recorder_next_chunk(Recorder *self)
{
	if (self->chunk != &nowhere && recorder_n(self) == 0)
		return;
	end_chunk(self);
	open_chunk(self, TRACE_EVENT_NONE);
}

static void wait_until_read(uint64_t stamp)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};

	while (atomic_load(&ring->n_read) < stamp && is_wanted())
		nanosleep(&pause, NULL);
}

void recorder_tell(Recorder *self, TraceEventKind kind, const TraceEvent *event, bool is_awaited)
{
	if (recorder_is_off())
		return;
	recorder_next_chunk(self); /* gives an empty one */
	if (self->chunk == &nowhere)
		return;
	self->chunk->event = kind;
	if (event != NULL)
		self->chunk->details = *event;
	uint64_t stamp = end_chunk(self);
	open_chunk(self, TRACE_EVENT_NONE);
	if (is_awaited)
		wait_until_read(stamp);
}

static Recorder *give_up(void)
{
	current = &nobody;
	return current;
}

static Recorder *begin(void)
{
	bool is_one_too_many = atomic_fetch_add(&n_recorders, 1) >= MOST_THREADS;
	Recorder *self = is_one_too_many ? NULL : calloc(1, sizeof(*self));

	if (self == NULL) {
		atomic_fetch_add(&ring->n_untraced_threads, 1);
		return give_up();
	}
	self->thread = atomic_fetch_add(&n_threads, 1);
	self->tid = (uint32_t)gettid();
	current = self;
	open_chunk(self, TRACE_EVENT_NONE);
	return self;
}

Recorder *recorder_current(void)
{
	return __builtin_expect(current != NULL, 1) ? current : begin();
}

void recorder_end(void)
{
	Recorder *self = current;

	if (self == NULL)
		return;
	current = NULL;
	atomic_fetch_sub(&n_recorders, 1);
	if (self == &nobody)
		return;
	end_chunk(self);
	free(self->slots);
	free(self);
}
