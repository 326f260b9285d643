/* SPDX-License-Identifier: MIT */
/*
 * Resolves run-time addresses, for recordings, traces and running processes.
 *
 *   mappings, execs, forks, exits ─▶ address spaces, over time or now
 *                                        │ (process, time, address)
 *                                        ▼
 *                                     mapping ─┬─ of a file ─▶ image, address in it
 *                                              ├─ made at run time ─▶ image, address
 *                                              └─ nothing known ─▶ outcome
 *
 * Several recordings are independent: each has its own processes and times. Time is the
 * recording's: nanoseconds, numbers of samples or of references.
 */
#pragma once

#include "base/progress.h"
#include "model/process.h"
#include "process/address_space.h"
#include "process/images/code_images.h"
#include "sources/code/jit_code_set.h"
#include "sources/perf_data/perf_data.h"
#include "traces/trace_description.h"

typedef struct {
	uint32_t image;   /* of the code images; LODE_NONE: in none that is known */
	uint64_t address; /* in it; without an image, run-time */
} LodePlace;

/* Why there is no image, in the order in which it is reported. */
typedef enum {
	LODE_PLACE_FOUND,
	LODE_PLACE_KERNEL, /* and in none of its functions: of samples, as the next two */
	LODE_PLACE_HYPERVISOR,
	LODE_PLACE_GUEST,
	LODE_PLACE_UNMAPPED,
	LODE_PLACE_NO_CODE,     /* memory of no file, and no jitdump or perf map knows it */
	LODE_PLACE_OTHER_CLOCK, /* a jitdump knows several that lay there, but not when */
	LODE_PLACE_SPECIAL,     /* the kernel's own pages in the process: [vsyscall] */
	LODE_PLACE_N_OUTCOMES,
} LodePlaceOutcome;

/* A mapping as it was recorded. */
typedef struct {
	LodeMemoryMapping mapping; /* the name is the places' */
	uint64_t offset;           /* of its start in the file */
	uint32_t recording;
	uint32_t file;     /* private; UINT32_MAX: none */
	uint32_t stack_of; /* the thread whose stack it is, by the caller's numbers; LODE_NONE */
} LodePlacedMapping;

typedef struct LodePlaces LodePlaces;

/* All borrowed. */
typedef struct {
	LodeCodeImages *images; /* where those that are found are added */
	LodeJitCodeSet *jit;    /* where code made at run time is looked up, and added when it is
	                           found; NULL: nowhere */
	bool is_live;           /* of what runs: only the present is known */
	/* For a trace, which has all mappings: memory that may not be executed is ignored, and none
	 * is taken for a copy of a file's text. */
	bool is_for_code;
	const char *proc; /* where processes lead to their files, "/proc"; NULL: nowhere */
	/* Called for addresses without a known mapping, which may find one elsewhere and note it;
	 * true: look again. NULL: all mappings are known. */
	bool (*ask)(void *data, uint32_t pid);
	void *data;
} LodePlacesOptions;

LodePlaces *lode_places_new(const LodePlacesOptions *options);
void lode_places_free(LodePlaces *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePlaces, lode_places_free)

/* Begins a recording: what follows is of this one, until another is selected. Its number, from 0.
 * Live places have the one. */
uint32_t lode_places_begin(LodePlaces *self);

/* Selects the recording of all later calls, and begins it if it is new. */
void lode_places_select(LodePlaces *self, uint32_t recording);
uint32_t lode_places_selected(const LodePlaces *self);

/*
 * Adds a record; in any order, live places in the order of time. Records that do not concern memory
 * are ignored, and mappings of the kernel. A mapped jitdump, and the perf map of a process with
 * executable memory of no file, are added to the set of code, when they are there.
 */
void lode_places_note(LodePlaces *self, const LodePerfRecord *record, uint64_t time);

/* A mapping of an address trace, likewise. */
void lode_places_note_traced(
	LodePlaces *self, uint32_t pid, const LodeTraceMapping *mapping, uint64_t time);

/* A process is known from `begin` to `end`: nothing is mapped outside. Before its mappings. */
void lode_places_limit(LodePlaces *self, uint32_t pid, uint64_t begin, uint64_t end);

/*
 * Ends a recording, before anything is looked up; not for live places. `data`, which may be NULL,
 * is the reader of its perf.data: the list of files in it, the host and the time of the end
 * complete what the mappings say of their files. If it is cancelled, the recording cannot be used.
 */
void lode_places_freeze(
	LodePlaces *self, LodePerfData *data, const char *path, const LodeProgress *progress);

/* How many mappings overlap so often that what lay there before is not known, of all recordings;
 * see lode_address_spaces_why_forgotten. */
uint64_t lode_places_n_forgetting(const LodePlaces *self);

/* Where code lies at a run-time address. `code_time_ns` is the time on the clock of jitdumps,
 * CLOCK_MONOTONIC; LODE_JIT_TIME_LAST; LODE_JIT_TIME_UNKNOWN. */
LodePlaceOutcome lode_places_find_at(LodePlaces *self, uint32_t pid, uint64_t time,
	uint64_t code_time_ns, uint64_t address, LodePlace *out_place);

/* Likewise of a perf.data, which says itself whether its clock is that one. */
LodePlaceOutcome lode_places_find(
	LodePlaces *self, uint32_t pid, uint64_t time, uint64_t address, LodePlace *out_place);

/* For how long the last place that was found holds, at least; empty where that is not known, as of
 * code made at run time. */
LodeMappedPeriod lode_places_period(const LodePlaces *self);

/* The mapping at a run-time address, of code or not; `file` is the number of the mapping. NULL:
 * nothing. Valid until the next call. */
const LodeMappedRange *lode_places_find_mapping(
	LodePlaces *self, uint32_t pid, uint64_t time, uint64_t address);

/* All mappings, LodePlacedMapping; of live places none. */
GArray *lode_places_mappings(const LodePlaces *self);

/* The image of the file that a mapping is of; LODE_NONE: of none that has one. */
uint32_t lode_places_image_of(LodePlaces *self, uint32_t mapping);

/* Likewise, if it was found already; else LODE_NONE. */
uint32_t lode_places_known_image_of(const LodePlaces *self, uint32_t mapping);

/* Live: the image that data at an address is of, also where it is of no file (.bss). The caller may
 * not be sure that the address is valid. */
bool lode_places_find_data(LodePlaces *self, uint32_t pid, uint64_t address, LodePlace *out_place);

/* The origin of the address space that a process in a recording had at that time. */
LodeAddressSpaceBirth lode_places_find_birth(
	const LodePlaces *self, uint32_t recording, uint32_t pid, uint64_t time);

/* The number of changes of live places: earlier results are stale when this differs. */
uint64_t lode_places_generation(const LodePlaces *self);

/* Live: calls the anonymous mapping that holds a stack pointer the stack of that thread. */
void lode_places_set_stack(LodePlaces *self, uint32_t pid, uint64_t pointer, uint32_t ordinal);

LodeCodeImages *lode_places_images(const LodePlaces *self);

/* As it is accounted for: "sample outside any mapping". */
const char *lode_place_outcome_reason(LodePlaceOutcome outcome);
