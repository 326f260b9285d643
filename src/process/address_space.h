/* SPDX-License-Identifier: MIT */
/*
 * The mappings of all processes over time, from records.
 *
 *   mappings, execs, forks, exits, in the order of time
 *        │
 *        ▼
 *   what is mapped now: ranges by address ──▶ each with what lay there before, newest first
 *
 * With a history, events may come in any order: they are kept, sorted by time when all are there,
 * and then any time can be looked up. Without one, events are applied at once and only the present
 * is known, in memory proportional to the current mappings.
 *
 * A mapping covers earlier ones. An exec empties an address space; a forked process has its
 * parent's mappings of that time until it maps over them.
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
 * Add an event; events of equal times keep the order of the calls. Without a history, times are
 * ignored. Empty ranges are ignored; memory of no file ("", "//anon") becomes "[anon]". When
 * "[heap]" and "[stack]" are reported again, larger, only the additional part is new.
 */
void lode_address_spaces_map(
	LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns, const LodeMappedRange *range);
void lode_address_spaces_exec(LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns);
void lode_address_spaces_fork(
	LodeAddressSpaces *self, uint32_t pid, uint32_t parent_pid, uint64_t time_ns);

/* A process has ended: it has no mappings now. A history keeps the earlier ones. */
void lode_address_spaces_exit(LodeAddressSpaces *self, uint32_t pid);

/* The name that a range of this path would have, as above. */
const char *lode_address_spaces_name(LodeAddressSpaces *self, const char *path);

/*
 * Ends a history; called once, before anything is looked up. Where mappings overlap each other more
 * often than in any real program, earlier mappings are forgotten: nothing is found for those times.
 * Gives the number of such mappings. If it is cancelled it ends early, and look-ups are wrong.
 */
uint64_t lode_address_spaces_freeze(LodeAddressSpaces *self, const LodeProgress *progress);

/* The reason under which these are accounted for. */
extern const char lode_address_spaces_why_forgotten[];

typedef struct {
	uint64_t begin_ns, end_ns; /* [begin, end) */
} LodeMappedPeriod;

typedef struct {
	uint64_t time_ns; /* 0: before the first event */
	uint64_t end_ns;  /* when the next one began; UINT64_MAX: none did */
	uint32_t parent;  /* that it was a copy of; UINT32_MAX: none, it was empty */
} LodeAddressSpaceBirth;

/* The origin of the address space that a process had at that time: its last exec or fork. */
LodeAddressSpaceBirth lode_address_spaces_find_birth(
	LodeAddressSpaces *self, uint32_t pid, uint64_t time_ns);

/*
 * The mapping at an address at that time, or NULL. With a history it is the mapping as it was made,
 * valid as long as the spaces; without one the part of it that is left, valid until the next call.
 * `out_period`, which may be NULL, is the time for which a look-up gives the same, at least;
 * untouched if that is unknown, as always without a history.
 */
const LodeMappedRange *lode_address_spaces_find(LodeAddressSpaces *self, uint32_t pid,
	uint64_t address, uint64_t time_ns, LodeMappedPeriod *out_period);

/* Likewise the newest mapping there that may be executed. `out_under` is the one of another
 * name that did before, NULL where there is none, and of the present always. */
const LodeMappedRange *lode_address_spaces_find_code(LodeAddressSpaces *self, uint32_t pid,
	uint64_t address, uint64_t time_ns, LodeMappedPeriod *out_period,
	const LodeMappedRange **out_under);

/* Without a history: names the anonymous mapping that holds a stack pointer the stack of that
 * thread of its process. */
void lode_address_spaces_set_stack(
	LodeAddressSpaces *self, uint32_t pid, uint64_t pointer, uint32_t ordinal);

/* Without a history: the number of changes; earlier results are stale when this differs. */
uint64_t lode_address_spaces_generation(const LodeAddressSpaces *self);
