/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	CHECK_NS = 100 * 1000 * 1000, /* how often one who waits looks whether lode is still there
	                               */
	POLL_NS = 20 * 1000,
	FIRST_PAUSE_NS = 200 * 1000,
	MAX_PAUSE_NS = 1000 * 1000,
	CHECK_POLLS = CHECK_NS / POLL_NS,
	STILL_CHECKS = 10, /* so long lode may do nothing before one asks whether it lives */
	MOST_THREADS = TRACE_RING_CHUNKS / 2,
	CODE_PLACES = 1 << TRACE_RING_CODE_INDEX_BITS,
	MAX_PROBES = 16,
	MOST_CODE_UNITS = 16, /* of a piece */
	FILTER_BITS = 40,     /* of the states of a thread's filter */
};

#define NO_CODE UINT32_MAX

_Static_assert(sizeof(LodeCodeDescription) + 3 * LODE_CODE_MAX_INSTRUCTIONS <=
		       (size_t)MOST_CODE_UNITS * LODE_CODE_UNIT_BYTES,
	"the largest piece of code");

static TraceRing *ring;
static uint32_t process; /* ours */
static bool follows_forks;
static uint64_t functions[TRACE_RING_MAX_FUNCTIONS];
static uint32_t n_functions, n_functions_seen; /* of ours; of all in the ring */
static TraceChunk nowhere;
/* The chunk of a thread without one: it is full, so that nothing is written to it. */
static TraceChunk resting = {.n = TRACE_CHUNK_WORDS};
static Recorder nobody = {.chunk = &nowhere, .most = TRACE_CHUNK_WORDS, .is_shared = true};
static atomic_bool has_threads;
atomic_bool recorder_has_ended;
static atomic_uint n_recorders, n_threads;
static atomic_uint n_filters; /* a forked process goes on counting: its pieces know old states */

__thread Recorder *recorder_of_thread;

TraceRing *recorder_ring(void)
{
	return ring;
}

void recorder_expect_threads(void)
{
	atomic_store(&has_threads, true);
}

bool recorder_has_threads(void)
{
	return atomic_load_explicit(&has_threads, memory_order_relaxed);
}

static void take_number(void)
{
	process = atomic_fetch_add(&ring->n_processes, 1);
	if (process < TRACE_RING_MAX_PROCESSES)
		return;
	atomic_fetch_add(&ring->n_untraced_processes, 1);
	atomic_store(&recorder_has_ended, true);
}

static void open_chunk(Recorder *self);

/* A forked process shares the memory; open chunks stay its parent's. */
static void begin_in_child(void)
{
	const TraceEvent event = {
		.start = (uint64_t)getpid(),
		.size = process,
		.kind = TRACE_PROCESS_FORKED,
	};
	Recorder *self = recorder_of_thread;

	atomic_store(&has_threads, false);
	if (!follows_forks)
		atomic_store(&recorder_has_ended, true);
	if (self == &nobody)
		self = recorder_of_thread = NULL;
	if (self != NULL)
		self->chunk = &nowhere;
	if (recorder_is_off())
		return;
	atomic_store(&n_recorders, self != NULL);
	atomic_store(&n_threads, self != NULL);
	take_number();
	if (recorder_is_off())
		return;
	if (self != NULL) {
		self->thread = 0;
		self->tid = (uint32_t)gettid();
		open_chunk(self);
	}
	recorder_send_event(recorder_current(), TRACE_EVENT_PROCESS, &event, false);
}

void recorder_begin_process(const char *command, bool is_recorded)
{
	TraceEvent event = {
		.start = (uint64_t)getpid(),
		.kind = is_recorded ? TRACE_PROCESS_PROGRAM : TRACE_PROCESS_PASSED,
	};

	snprintf(event.path, sizeof(event.path), "%s", command);
	recorder_send_event(recorder_current(), TRACE_EVENT_PROCESS, &event, false);
	if (is_recorded)
		return;
	recorder_end();
	atomic_store(&recorder_has_ended, true);
}

bool recorder_connect(const char *path, bool follows)
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
	follows_forks = follows;
	if (ring->magic != TRACE_RING_MAGIC || pthread_atfork(NULL, NULL, begin_in_child) != 0)
		return false;
	take_number();
	return true;
}

/* Its number; NO_CODE: there is no room. */
static uint32_t append_code(const LodeCodeDescription *code, size_t n_bytes)
{
	uint32_t n_units = (uint32_t)((n_bytes + LODE_CODE_UNIT_BYTES - 1) / LODE_CODE_UNIT_BYTES);

	if (atomic_load(&ring->n_code_units) > TRACE_RING_CODE_UNITS - n_units)
		return NO_CODE;
	uint32_t number = atomic_fetch_add(&ring->n_code_units, n_units);
	if (number > TRACE_RING_CODE_UNITS - n_units)
		return NO_CODE;
	memcpy(&ring->code[(size_t)number * LODE_CODE_UNIT_BYTES], code, n_bytes);
	return number;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t hash_code(const LodeCodeDescription *code, size_t n_bytes)
{
	const uint8_t *bytes = (const uint8_t *)code;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n_bytes; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)(hash >> (64 - TRACE_RING_CODE_INDEX_BITS));
}

bool recorder_share_code(const LodeCodeDescription *code, size_t n_bytes, uint32_t *out_number)
{
	uint32_t hash = hash_code(code, n_bytes), number = NO_CODE;

	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		_Atomic uint32_t *place = &ring->code_index[(hash + i) % CODE_PLACES];
		uint32_t found = atomic_load(place);
		if (found == 0) {
			if (number == NO_CODE)
				number = append_code(code, n_bytes);
			if (number == NO_CODE)
				return false;
			/* a different process may have been first: the same piece is then shared
			 * twice */
			if (atomic_compare_exchange_strong(place, &found, number + 1))
				break;
		}
		*out_number = found - 1;
		if (found <= TRACE_RING_CODE_UNITS - MOST_CODE_UNITS &&
			memcmp(&ring->code[(size_t)*out_number * LODE_CODE_UNIT_BYTES], code,
				n_bytes) == 0)
			return true;
	}
	*out_number = number != NO_CODE ? number : append_code(code, n_bytes);
	return *out_number != NO_CODE;
}

static void read_functions(void)
{
	uint32_t n = atomic_load(&ring->n_functions);

	for (; n_functions_seen < n && n_functions_seen < TRACE_RING_MAX_FUNCTIONS;
		n_functions_seen++)
		if (ring->functions[n_functions_seen].process == process)
			functions[n_functions++] = ring->functions[n_functions_seen].address;
}

bool recorder_is_function(uint64_t address)
{
	for (uint32_t i = 0; i < n_functions; i++)
		if (functions[i] == address)
			return true;
	return false;
}

static bool is_wanted(void)
{
	if (!recorder_is_off() && (atomic_load(&ring->has_stopped) != 0 ||
					  atomic_load(&ring->is_stopped[process]) != 0))
		atomic_store(&recorder_has_ended, true);
	return !recorder_is_off();
}

/* A process that has ended and is not waited for yet is a zombie. */
static bool is_reader_dead(void)
{
	char path[64], line[512] = "";

	if (kill((pid_t)ring->reader_pid, 0) != 0 && errno == ESRCH)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)ring->reader_pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return false;
	bool has_line = fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	const char *name_end = strrchr(line, ')');
	return has_line && name_end != NULL &&
	       strchr("ZX", name_end[strspn(name_end, ") ")]) != NULL;
}

/*
 * Where lode has died, the program goes on alone. One who waits asks now and then, and looks for it
 * only when it has not moved for long: where processes have numbers of their own
 * (pid_namespaces(7)), it is not to be found.
 */
static void check_reader(uint32_t *beat, unsigned *n_still)
{
	uint32_t now = atomic_load(&ring->reader_beat);

	*n_still = now == *beat ? *n_still + 1 : 0;
	*beat = now;
	if (*n_still < STILL_CHECKS)
		return;
	*n_still = 0;
	if (is_reader_dead())
		atomic_store(&recorder_has_ended, true);
}

/* lode gives many chunks back meanwhile, and does not wake a thread for each. */
static bool wait_a_little(void)
{
	struct timespec pause = {.tv_nsec = FIRST_PAUSE_NS};

	for (; sem_trywait(&ring->n_free) != 0; pause.tv_nsec *= 2) {
		if (pause.tv_nsec > MAX_PAUSE_NS)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static bool wait_for_room(void)
{
	struct timespec until;
	uint32_t beat = atomic_load(&ring->reader_beat);
	unsigned n_still = 0;

	for (;; check_reader(&beat, &n_still)) {
		if (wait_a_little())
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

static uint32_t state_of(uint32_t state)
{
	return state | process << TRACE_CHUNK_STATE_BITS;
}

/*
 * The semaphore has counted one that is free for us. Chunks are freed in about the order in which
 * they were taken, so that the next one mostly is; a thread that loses the processor here does not
 * keep others from going on, and takes none that was given away meanwhile.
 */
static TraceChunk *take_free(void)
{
	if (!is_wanted() || !wait_for_room())
		return &nowhere;
	for (;;) {
		uint64_t ticket = atomic_fetch_add(&ring->next_free, 1);
		TraceChunk *chunk = &ring->chunks[ticket % TRACE_RING_CHUNKS];
		uint32_t state = TRACE_CHUNK_FREE;

		if (atomic_compare_exchange_strong(
			    &chunk->state, &state, state_of(TRACE_CHUNK_TAKEN)))
			return chunk;
	}
}

static void open_chunk(Recorder *self)
{
	TraceChunk *chunk = take_free();

	if (chunk != &nowhere) {
		atomic_fetch_add(&ring->n_open, 1);
		chunk->process = process;
		chunk->thread = self->thread;
		chunk->tid = self->tid;
		chunk->event = TRACE_EVENT_NONE;
		atomic_store(&chunk->n, 0);
		atomic_store(&chunk->opened, atomic_fetch_add(&ring->next_opened, 1));
		atomic_store(&chunk->state, state_of(TRACE_CHUNK_OPEN));
	}
	self->chunk = chunk;
	self->most = recorder_has_threads() ? TRACE_CHUNK_SHARED_WORDS : TRACE_CHUNK_WORDS;
	self->instruction = RECORDER_NO_INSTRUCTION;
	self->last = 0;
	self->piece = NULL;
	self->has_counts = self->is_bare = false;
}

static void lock(void)
{
	if (pthread_mutex_lock(&ring->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&ring->lock);
}

/* Its stamp; 0 for none. */
static uint64_t end_chunk(Recorder *self)
{
	TraceChunk *chunk = self->chunk;

	if (chunk == &nowhere)
		recorder_set_n(self, 0);
	if (chunk == &nowhere || chunk == &resting)
		return 0;
	atomic_fetch_sub(&ring->n_open, 1);
	/* Counted last: who is killed before that has done nothing, and the chunk is still open. */
	lock();
	uint64_t stamp = atomic_load(&ring->next_stamp);
	atomic_store(&ring->queue[stamp % TRACE_RING_CHUNKS], (uint32_t)(chunk - ring->chunks) + 1);
	atomic_store(&ring->next_stamp, stamp + 1);
	pthread_mutex_unlock(&ring->lock);
	sem_post(&ring->n_queued);
	return stamp + 1;
}

void recorder_next_chunk(Recorder *self)
{
	if (self->chunk != &nowhere && recorder_n(self) == 0)
		return;
	end_chunk(self);
	open_chunk(self);
}

void recorder_rest(Recorder *self)
{
	TraceChunk *chunk = self->chunk;

	if (atomic_load(&ring->n_open) < TRACE_RING_MANY_OPEN) {
		if (recorder_has_threads())
			recorder_next_chunk(self);
		return;
	}
	if (chunk == &nowhere || chunk == &resting)
		return;
	if (recorder_n(self) > 0) {
		end_chunk(self);
	} else {
		atomic_fetch_sub(&ring->n_open, 1);
		atomic_store(&chunk->state, TRACE_CHUNK_FREE);
		sem_post(&ring->n_free);
	}
	self->chunk = &resting;
	self->instruction = RECORDER_NO_INSTRUCTION;
	self->last = 0;
	self->piece = NULL;
	self->has_counts = self->is_bare = false;
}

static void wait_until_read(uint64_t stamp)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	uint32_t beat = atomic_load(&ring->reader_beat);
	unsigned n_still = 0, n = 0;

	while (atomic_load(&ring->n_read) < stamp && is_wanted()) {
		nanosleep(&pause, NULL);
		if (++n % CHECK_POLLS == 0)
			check_reader(&beat, &n_still);
	}
	read_functions();
}

void recorder_send_event(
	Recorder *self, TraceEventKind kind, const TraceEvent *event, bool is_awaited)
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
	open_chunk(self);
	if (is_awaited)
		wait_until_read(stamp);
}

static Recorder *give_up(void)
{
	recorder_of_thread = &nobody;
	return recorder_of_thread;
}

Recorder *recorder_begin(void)
{
	bool is_one_too_many = atomic_fetch_add(&n_recorders, 1) >= MOST_THREADS;
	Recorder *self = is_one_too_many ? NULL : calloc(1, sizeof(*self));

	if (self == NULL) {
		atomic_fetch_add(&ring->n_untraced_threads, 1);
		return give_up();
	}
	self->thread = atomic_fetch_add(&n_threads, 1);
	self->tid = (uint32_t)gettid();
	/* without memory nothing is filtered */
	self->filter = ring->filter.has_filter ? calloc(1, sizeof(*self->filter)) : NULL;
	if (self->filter != NULL)
		lode_word_filter_init(self->filter, &ring->filter,
			(uint64_t)atomic_fetch_add(&n_filters, 1) << FILTER_BITS);
	recorder_of_thread = self;
	open_chunk(self);
	return self;
}

void recorder_end(void)
{
	Recorder *self = recorder_of_thread;

	if (self == NULL)
		return;
	recorder_of_thread = NULL;
	atomic_fetch_sub(&n_recorders, 1);
	if (self == &nobody)
		return;
	end_chunk(self);
	free(self->slots);
	free(self->filter);
	free(self);
}
