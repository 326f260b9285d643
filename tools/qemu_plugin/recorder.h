/* SPDX-License-Identifier: MIT */
/*
 * The destination of a thread's references: its open chunk of the memory that is shared with lode
 * (record/qemu/trace_ring_format.h). When lode wants no more, or has ended, references go to a
 * chunk that is not read.
 */
#pragma once

#include "record/qemu/trace_ring_format.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { RECORDER_NO_INSTRUCTION = UINT32_MAX };

typedef struct {
	TraceChunk *chunk;
	uint64_t last;        /* the argument of the last fetch, see plugin.c; 0: none */
	uint32_t instruction; /* the word of the chunk before its references */
	uint32_t most;        /* words of the chunk, which are few where threads take turns */
	uint32_t thread, tid;

	/* Where words are filtered; NULL: they are not. */
	LodeWordFilter *filter;
	const struct Piece *piece; /* that is executed; NULL: it is not known what was used last */
	bool has_counts;           /* the chunk begins with them */
	bool is_bare;              /* the piece is not told, only counted */

	/* Arguments of the system call that the thread is in. */
	uint64_t arguments[6];

	/* Only if a function is traced: the addresses of the return addresses of calls. */
	uint64_t *slots;
	size_t n_slots, slots_room;
	uint64_t entry_slot; /* of the outermost call of the function */
	bool is_inside;
	bool is_shared; /* by all untraced threads: its calls are not followed */
} Recorder;

/* Maps the memory that lode offers at a path. Once, before all else. With `follows` a forked
 * process records as one of its own, else nothing. */
bool recorder_connect(const char *path, bool follows);
TraceRing *recorder_ring(void);

/* Sends the event that this process begins; with `is_recorded` false it sends nothing else. */
void recorder_begin_process(const char *command, bool is_recorded);

/* Shares a description of `n_bytes` of a piece of code, unless a process has, and gives its number.
 * False: there is no room. */
bool recorder_share_code(const LodeCodeDescription *code, size_t n_bytes, uint32_t *out_number);

/* Whether a traced function begins at the address: those that lode has added up to the last awaited
 * event. */
bool recorder_is_function(uint64_t address);

/* For the functions below, which are called for each access. */
#define RECORDER_PRIVATE __attribute__((visibility("hidden")))
/* In the part of thread-local storage that is there from the start: QEMU loads us early. */
extern RECORDER_PRIVATE __thread Recorder *recorder_of_thread
	__attribute__((tls_model("initial-exec")));
extern RECORDER_PRIVATE atomic_bool recorder_has_ended;
RECORDER_PRIVATE Recorder *recorder_begin(void);

/* The recorder of the calling thread; created at the first call. Never NULL. */
static inline Recorder *recorder_current(void)
{
	Recorder *self = recorder_of_thread;

	return __builtin_expect(self != NULL, 1) ? self : recorder_begin();
}

/* The calling thread ends. */
void recorder_end(void);

/* Ends the open chunk, and begins the next one. */
void recorder_next_chunk(Recorder *self);

/*
 * The calling thread is about to make a system call, in which it may wait: where several threads
 * take turns, its chunk ends, and where many have one, it has none until it writes again.
 */
void recorder_rest(Recorder *self);

/* Whether lode reads no references any more. */
static inline bool recorder_is_off(void)
{
	return atomic_load_explicit(&recorder_has_ended, memory_order_relaxed);
}

/* From now on chunks end wherever threads may synchronise. */
void recorder_expect_threads(void);
bool recorder_has_threads(void);

/* Sends an event after the references so far; with `is_awaited` it returns when lode has read it.
 */
void recorder_send_event(
	Recorder *self, TraceEventKind kind, const TraceEvent *event, bool is_awaited);

static inline uint32_t recorder_n(const Recorder *self)
{
	return atomic_load_explicit(&self->chunk->n, memory_order_relaxed);
}

static inline void recorder_set_n(Recorder *self, uint32_t n)
{
	atomic_store_explicit(&self->chunk->n, n, memory_order_relaxed);
}

static inline void recorder_append(
	Recorder *self, uint64_t address, uint32_t size, LodeReferenceKind kind)
{
	uint32_t n = recorder_n(self);

	if (n >= TRACE_CHUNK_WORDS) {
		recorder_next_chunk(self);
		n = 0;
	}
	self->chunk->words[n] = lode_word_of_reference(address, size, kind);
	recorder_set_n(self, n + 1);
}
