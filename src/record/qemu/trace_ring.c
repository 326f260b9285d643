/* SPDX-License-Identifier: MIT */
#include "record/qemu/trace_ring.h"

#include "base/error.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	WAIT_NS = 20 * 1000 * 1000,
	NS = 1000 * 1000 * 1000,
	FIRST_PAUSE_NS = 100 * 1000,
	MAX_PAUSE_NS = 1000 * 1000,
	MAX_YIELDS = 10000,
};

struct LodeTraceRing {
	TraceRing *shared;
	int descriptor;
	char *path;
	uint64_t stamp; /* of the next chunk */
	LodeCodePieces *pieces;
	atomic_bool has_ended;
};

static void fill(TraceRing *shared)
{
	pthread_mutexattr_t attributes;

	shared->magic = TRACE_RING_MAGIC;
	shared->reader_pid = getpid();
	sem_init(&shared->n_queued, 1, 0);
	sem_init(&shared->n_free, 1, TRACE_RING_CHUNKS);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

static bool map(LodeTraceRing *self, GError **error)
{
	void *place = MAP_FAILED;

	/* without a name that would outlive us; the plugin opens it by our /proc/PID/fd */
	self->descriptor = memfd_create("lode-trace", MFD_CLOEXEC);
	if (self->descriptor >= 0 && ftruncate(self->descriptor, sizeof(TraceRing)) == 0)
		place = mmap(NULL, sizeof(TraceRing), PROT_READ | PROT_WRITE, MAP_SHARED,
			self->descriptor, 0);
	if (place == MAP_FAILED) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"no memory to share with the program: %s", g_strerror(errno));
		return false;
	}
	self->shared = place;
	return true;
}

LodeTraceRing *lode_trace_ring_new(GError **error)
{
	g_autoptr(LodeTraceRing) self = g_new0(LodeTraceRing, 1);

	if (!map(self, error))
		return NULL;
	fill(self->shared);
	self->pieces = lode_code_pieces_new(self->shared->code, sizeof(self->shared->code));
	self->path = g_strdup_printf("/proc/%d/fd/%d", (int)getpid(), self->descriptor);
	return g_steal_pointer(&self);
}

void lode_trace_ring_free(LodeTraceRing *self)
{
	if (self == NULL)
		return;
	lode_code_pieces_unref(self->pieces);
	if (self->shared != NULL)
		munmap(self->shared, sizeof(TraceRing));
	if (self->descriptor >= 0)
		close(self->descriptor);
	g_free(self->path);
	g_free(self);
}

const char *lode_trace_ring_path(const LodeTraceRing *self)
{
	return self->path;
}

void lode_trace_ring_filter(LodeTraceRing *self, const LodeWordFilterGeometry *filter)
{
	self->shared->filter = *filter;
}

void lode_trace_ring_ask_for_functions(LodeTraceRing *self)
{
	self->shared->has_functions = 1;
}

bool lode_trace_ring_add_function(LodeTraceRing *self, uint32_t process, uint64_t address)
{
	uint32_t n = atomic_load(&self->shared->n_functions);

	if (n >= TRACE_RING_MAX_FUNCTIONS)
		return false;
	self->shared->functions[n].address = address;
	self->shared->functions[n].process = process;
	atomic_store(&self->shared->n_functions, n + 1);
	return true;
}

uint32_t lode_trace_ring_n_untraced_threads(const LodeTraceRing *self)
{
	return atomic_load(&self->shared->n_untraced_threads);
}

uint32_t lode_trace_ring_n_untraced_processes(const LodeTraceRing *self)
{
	return atomic_load(&self->shared->n_untraced_processes);
}

void lode_trace_ring_stop_process(LodeTraceRing *self, uint32_t process)
{
	if (process < TRACE_RING_MAX_PROCESSES)
		atomic_store(&self->shared->is_stopped[process], 1);
}

void lode_trace_ring_stop(LodeTraceRing *self)
{
	atomic_store(&self->shared->has_stopped, 1);
}

void lode_trace_ring_end(LodeTraceRing *self)
{
	atomic_store(&self->has_ended, true);
	sem_post(&self->shared->n_queued);
}

bool lode_trace_ring_has_ended(const LodeTraceRing *self)
{
	return atomic_load(&self->has_ended);
}

/*
 * A program that is at work fills many chunks meanwhile, and does not wake lode for each. It begins
 * again with the first of them, so that it goes through no more than it fills in a pause, which the
 * processors' caches hold.
 */
static bool wait_a_little(LodeTraceRing *self)
{
	struct timespec pause = {.tv_nsec = FIRST_PAUSE_NS};

	for (; sem_trywait(&self->shared->n_queued) != 0; pause.tv_nsec *= 2) {
		if (pause.tv_nsec > MAX_PAUSE_NS)
			return false;
		atomic_store(&self->shared->next_free, 0);
		nanosleep(&pause, NULL);
	}
	return true;
}

static void wait_for_chunk(LodeTraceRing *self)
{
	struct timespec until;

	if (wait_a_little(self))
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_NS;
	until.tv_sec += until.tv_nsec / NS;
	until.tv_nsec %= NS;
	(void)sem_clockwait(&self->shared->n_queued, CLOCK_MONOTONIC, &until);
}

/* A program that writes into this memory can count stamps that have no place. There are no more of
 * them than chunks, whatever it says, and the caller may be who is to see that the program has
 * ended: it gets its turn. */
static bool take_queued(LodeTraceRing *self, uint32_t *out_index)
{
	_Atomic uint32_t *slot = &self->shared->queue[self->stamp % TRACE_RING_CHUNKS];
	uint32_t index, n_missing = 0, n_yields = 0;

	/* what is there already but not counted yet is put there anew when its writer dies */
	if (self->stamp >= atomic_load(&self->shared->next_stamp))
		return false;
	while ((index = atomic_exchange(slot, 0)) == 0) {
		if (lode_trace_ring_has_ended(self)) {
			if (self->stamp >= atomic_load(&self->shared->next_stamp) ||
				n_missing++ == TRACE_RING_CHUNKS)
				return false;
			self->stamp++;
			slot = &self->shared->queue[self->stamp % TRACE_RING_CHUNKS];
		} else if (self->stamp < atomic_load(&self->shared->next_stamp) &&
			   n_yields++ < MAX_YIELDS) {
			sched_yield();
		} else {
			return false;
		}
	}
	self->stamp++;
	*out_index = index - 1;
	return *out_index < TRACE_RING_CHUNKS;
}

static void copy(const TraceChunk *from, LodeTraceRingChunk *out)
{
	uint32_t event = from->event;

	out->process = from->process;
	out->thread = from->thread;
	out->tid = from->tid;
	out->event = event < TRACE_N_EVENTS ? (TraceEventKind)event : TRACE_EVENT_NONE;
	out->n = 0;
	/* copied before it is checked: the other side can still write, and write anything */
	if (out->event == TRACE_EVENT_NONE) {
		out->n = MIN(atomic_load(&from->n), TRACE_CHUNK_WORDS);
		memcpy(out->words, from->words, out->n * sizeof(*out->words));
		return;
	}
	out->details = from->details;
	out->details.path[TRACE_EVENT_PATH_BYTES - 1] = '\0';
}

static void give_back(LodeTraceRing *self, uint32_t index)
{
	atomic_store(&self->shared->chunks[index].state, TRACE_CHUNK_FREE);
	sem_post(&self->shared->n_free);
}

/* One that its thread, which has ended, had open. */
static void give_back_open(LodeTraceRing *self, uint32_t index)
{
	atomic_fetch_sub(&self->shared->n_open, 1);
	give_back(self, index);
}

bool lode_trace_ring_next(LodeTraceRing *self, LodeTraceRingChunk *out_chunk)
{
	uint32_t index;

	atomic_fetch_add(&self->shared->reader_beat, 1);
	atomic_store(&self->shared->n_read, self->stamp);
	if (!lode_trace_ring_has_ended(self))
		wait_for_chunk(self);
	if (!take_queued(self, &index))
		return false;
	copy(&self->shared->chunks[index], out_chunk);
	give_back(self, index);
	return true;
}

LodeCodePieces *lode_trace_ring_pieces(LodeTraceRing *self)
{
	return self->pieces;
}

uint64_t lode_trace_ring_n_read(const LodeTraceRing *self)
{
	return self->stamp;
}

uint64_t lode_trace_ring_n_stamped(const LodeTraceRing *self)
{
	return atomic_load(&self->shared->next_stamp);
}

bool lode_trace_ring_take_rest(LodeTraceRing *self, uint32_t process, LodeTraceRingChunk *out_chunk)
{
	const uint32_t taken = TRACE_CHUNK_TAKEN | process << TRACE_CHUNK_STATE_BITS;
	const uint32_t open = TRACE_CHUNK_OPEN | process << TRACE_CHUNK_STATE_BITS;
	TraceChunk *first = NULL;

	for (uint32_t i = 0; i < TRACE_RING_CHUNKS; i++) {
		TraceChunk *chunk = &self->shared->chunks[i];
		uint32_t state = atomic_load(&chunk->state);
		if (state == taken || (state == open && atomic_load(&chunk->n) == 0 &&
					      chunk->event == TRACE_EVENT_NONE))
			give_back_open(self, i);
		else if (state == open && (first == NULL || chunk->opened < first->opened))
			first = chunk;
	}
	if (first == NULL)
		return false;
	copy(first, out_chunk);
	give_back_open(self, (uint32_t)(first - self->shared->chunks));
	return true;
}
