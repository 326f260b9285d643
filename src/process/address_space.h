/* SPDX-License-Identifier: MIT */
/*
 * What lay where, when, in which process: the mappings of all processes, as records tell of them.
 *
 *   mappings, execs, forks, exits, in the order of time
 *        │
 *        ▼
 *   what is mapped now: ranges by address ──▶ each with what lay there before, newest first
 *
 * With a history, events may come in any order: they are kept, brought into the order of time when
 * all are there, and then anything can be asked for any time. Without one, events are applied at
 * once and only the present is known, in memory for what is mapped now.
 *
 * A mapping covers what was there before. An exec empties an address space; a forked process has
 * what its parent had at that time until it maps something else there.
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeAddressSpaces LodeAddressSpaces;

#define LODE_TIME_NOW UINT64_MAX

typedef struct {
	uint64_t start, end; /* run-time addresses [start, end) */
	uint64_t offset;     /* of `start` in the file */
	uint32_t file;       /* the caller's number of it */
	uint32_t protection; /* PROT_… */
	const char *name; /* a path, "[heap]", "[stack]", "[anon]", "[stack of thread 3]"; of found
	                     ones equal names are one pointer, which lives as long as the spaces;
	                     NULL: the caller knows it by `file` */
} LodeMappedRange;

LodeAddressSpaces *lode_address_spaces_new(void);      /* with a history */
LodeAddressSpaces *lode_address_spaces_new_live(void); /* the present alone */
void lode_address_spaces_free(LodeAddressSpaces *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAddressSpaces, lode_address_spaces_free)

/*
 * What happened; at equal times in the order of the calls. The present takes no notice of times.
 * Empty ranges are ignored; memory of no file ("", "//anon") becomes "[anon]". "[heap]" and
 * "[stack]" that are told of again, larger, stay what they were, and only the rest is new.
 */
void lode_address_spaces_map(
	LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns, const LodeMappedRange *range);
void lode_address_spaces_exec(LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns);
void lode_address_spaces_fork(
	LodeAddressSpaces *self, uint32_t pid, uint32_t parent_pid, uint64_t time_ns);

/* A process has ended: nothing of it is mapped now. A history keeps what was. */
void lode_address_spaces_exit(LodeAddressSpaces *self, uint32_t pid);

/* The name that a range of this path would have, as above. */
const char *lode_address_spaces_name(LodeAddressSpaces *self, const char *path);

/*
 * Of a history, to be called once, before anything is looked up. Mappings that overlap each other
 * so often that no real program can have made them are there, but what lay there earlier is
 * forgotten: nothing is found for those times. How many mappings that is so for. When it is
 * cancelled it ends early, and what is found then is wrong.
 */
uint64_t lode_address_spaces_freeze(LodeAddressSpaces *self, const LodeProgress *progress);

/* What these are accounted for under. */
extern const char lode_address_spaces_why_forgotten[];

typedef struct {
	uint64_t begin_ns, end_ns; /* [begin, end) */
} LodeMappedPeriod;

typedef struct {
	uint64_t time_ns; /* 0: before anything is told of */
	uint64_t end_ns;  /* when the next one came about; UINT64_MAX: none did */
	uint32_t parent;  /* that it was a copy of; UINT32_MAX: none, it was empty */
} LodeAddressSpaceBirth;

/* How the address space came about that a process had at that time: by its last exec or fork. */
LodeAddressSpaceBirth lode_address_spaces_find_birth(
	LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns);

/*
 * What lay at an address at that time, or NULL: of a history the mapping as it came about, valid as
 * long as the spaces; of the present what is left of it there, valid until the next call.
 * `out_period`, which may be NULL, is for how long a look-up gives the same, at least; untouched
 * when that cannot be told, as always without a history.
 */
const LodeMappedRange *lode_address_spaces_find(LodeAddressSpaces *self, uint32_t pid,
	uint64_t address, uint64_t time_ns, LodeMappedPeriod *out_period);

/* Likewise the newest mapping there that may be executed. `out_under` is the one of another
 * name that did before, NULL where there is none, and of the present always. */
const LodeMappedRange *lode_address_spaces_find_code(LodeAddressSpaces *self, uint32_t pid,
	uint64_t address, uint64_t time_ns, LodeMappedPeriod *out_period,
	const LodeMappedRange **out_under);

/* Of the present: calls the anonymous mapping that holds a stack pointer the stack of that thread
 * of its process. */
void lode_address_spaces_set_stack(
	LodeAddressSpaces *self, uint32_t pid, uint64_t pointer, uint32_t ordinal);

/* Of the present: how often anything changed; what was found before is stale when this differs. */
uint64_t lode_address_spaces_generation(const LodeAddressSpaces *self);
