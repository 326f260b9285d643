/* SPDX-License-Identifier: MIT */
/*
 * The open descriptors: each event on each CPU for each thread, one ring buffer per CPU.
 *
 *            CPU 0          CPU 1
 *   event 0  fd ──▶ ring    fd ──▶ ring      the first of a CPU owns the ring, or that of slices,
 *   event 1  fd ──┘         fd ──┘           the others write into it
 *
 * An inherited event with a ring must be bound to a CPU, and follows the threads and children that
 * its thread starts later.
 */
#pragma once

#include "record/events/perf_event_choice.h"
#include "record/perf/perf_ring.h"

#include <sys/resource.h>

typedef struct {
	int descriptor;
	unsigned event, cpu; /* indices into choices and rings */
	uint64_t id;         /* what its samples say that they are of */
} LodePerfDescriptor;

/* The result of read() for an event (perf_event_open(2), "Reading results"). */
typedef struct {
	uint64_t value, id, lost;
} LodePerfCounts;

typedef struct {
	LodePerfRing ring;
	int cpu;
	guint polled; /* index of the descriptor that poll() waits for */
} LodePerfCpu;

typedef struct {
	const LodePerfKernel *kernel;
	GPtrArray *choices;      /* LodePerfChoice; borrowed */
	GArray *cpus;            /* LodePerfCpu */
	GArray *descriptors;     /* LodePerfDescriptor, by CPU, thread, event */
	size_t pages;            /* of each ring */
	struct rlimit limit;     /* of descriptors, as it was */
	size_t n_wanted;         /* descriptors, those of threads that ended included */
	LodePerfStretch stretch; /* whose events sample */
	GArray *closed;          /* LodePerfCounts by event, of descriptors that were closed */
} LodePerfEventSet;

/*
 * Opens everything, disabled, for the threads. Raises the soft limit of descriptors when need be,
 * until it is closed. `pages` 0: as many as allowed, at most 128, or 1024 where each event is a
 * sample. Notes the differences from the options. Errors: those of lode_perf_kernel_refuse(), and
 * _IO that names kernel.perf_event_mlock_kb.
 */
LodePerfEventSet *lode_perf_event_set_open(const LodePerfKernel *kernel, GPtrArray *choices,
	const GArray *threads, size_t pages, GString *note, GError **error);

/*
 * A set without descriptors, for samples that are taken without the kernel's events: one ring, of
 * our own memory, of `pages`; each choice gets an id. Errors: _IO.
 */
LodePerfEventSet *lode_perf_event_set_of_memory(GPtrArray *choices, size_t pages, GError **error);

void lode_perf_event_set_close(LodePerfEventSet *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePerfEventSet, lode_perf_event_set_close)

/* Opens everything, disabled, for further threads too; those that have ended meanwhile are left
 * out. Errors as above; the set can only be closed then. */
bool lode_perf_event_set_add(LodePerfEventSet *self, const GArray *threads, GError **error);

/* Begins the events that report threads, mappings and context switches: those without samples.
 * Where an event with samples reports the mappings it begins all events, and with them sampling. */
void lode_perf_event_set_begin(LodePerfEventSet *self);

/* Starts or stops sampling, by the events of this stretch; the tracking event goes on. */
void lode_perf_event_set_enable(LodePerfEventSet *self, bool is_on);

/* Begins another stretch, if there are events of it (there are none between slices), and it is not
 * that of now: the events of the last give way to them. `is_on`: sampling goes on. */
void lode_perf_event_set_begin_stretch(LodePerfEventSet *self, LodePerfStretch stretch, bool is_on);

/* How many descriptors lode_perf_event_set_close_optional() would close. */
size_t lode_perf_event_set_count_optional(const LodePerfEventSet *self);

/*
 * Closes those of optional events (lode_perf_choice_is_optional()), as each costs every thread at
 * its start and end. There must be events of slices, which alone sample from then on.
 */
void lode_perf_event_set_close_optional(LodePerfEventSet *self);

/* Starts or stops the reports of context switches. */
void lode_perf_event_set_enable_switches(LodePerfEventSet *self, bool is_on);

/* How often an event has happened, in all threads, those that have ended too. */
uint64_t lode_perf_event_set_count(const LodePerfEventSet *self, unsigned event);

/* The records that the kernel lost, by event; 0 where it does not report them. */
uint64_t lode_perf_event_set_lost(const LodePerfEventSet *self, unsigned event);
