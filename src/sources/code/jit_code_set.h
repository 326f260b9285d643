/* SPDX-License-Identifier: MIT */
/*
 * All code made at run time that a recording knows of: the jitdumps and perf maps of its processes.
 *
 *   (pid, run-time address, time) ─▶ (file, address in that file's image)
 *
 * The file is what lode_binary_image_open() takes, and the address is one of its functions'. A
 * jitdump's processes are those of its header and name; what a dump does not know is looked up in
 * the perf maps, which know no time.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeJitCodeSet LodeJitCodeSet;

typedef struct {
	const char *path; /* as it was added; borrowed from the set, the same pointer each time */
	uint64_t address; /* in the image of that file */
	unsigned file;    /* the number of the file in the set */
} LodeJitPlace;

typedef enum {
	LODE_JIT_NONE, /* nothing that the set knows */
	LODE_JIT_FOUND,
	LODE_JIT_AMBIGUOUS, /* several lay there, one after the other, and the time is not known; or
	                       two dumps of the process know the address */
} LodeJitOutcome;

/* In place of a time: the last that lay there; not known. */
#define LODE_JIT_TIME_LAST UINT64_MAX
#define LODE_JIT_TIME_UNKNOWN (UINT64_MAX - 1)

LodeJitCodeSet *lode_jit_code_set_new(void);
void lode_jit_code_set_free(LodeJitCodeSet *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeJitCodeSet, lode_jit_code_set_free)

/* Whether a file is one of these: a jitdump by its first bytes, a perf map by its name. Nothing but
 * a regular file is. */
bool lode_jit_code_set_is_file(const char *path);

/*
 * Adds a jitdump or perf map. Errors as lode_jitdump_open() and lode_perf_map_read() give them;
 * earlier files stay. One that is there already, by whatever path, is not read again. A file whose
 * name does not say perf-PID.map is read as a jitdump.
 */
bool lode_jit_code_set_add(LodeJitCodeSet *self, const char *path, GError **error);

/* How many files there are, and whose. */
unsigned lode_jit_code_set_n_files(const LodeJitCodeSet *self);
bool lode_jit_code_set_has_pid(const LodeJitCodeSet *self, uint32_t pid);

/*
 * A process has a dump mapped, so that it is its own, whatever number the process has in a
 * namespace of its own. `path` is as the process has it; device and inode are those of the file,
 * inode 0: not known. Takes effect with lode_jit_code_set_settle().
 */
void lode_jit_code_set_note_mapping(
	LodeJitCodeSet *self, uint32_t pid, const char *path, uint64_t device, uint64_t inode);

/* Gives dumps to the processes that were noted: by inode or path, else by their name alone, if only
 * one dump and one mapped file have it. */
void lode_jit_code_set_settle(LodeJitCodeSet *self);

/* A process of a recording, for lode_jit_code_set_find_unused(). */
void lode_jit_code_set_mark_used(LodeJitCodeSet *self, uint32_t pid);

/* The path of a file that is of no process that was seen, and the number of the process that it
 * names; NULL: there is none. */
const char *lode_jit_code_set_find_unused(const LodeJitCodeSet *self, uint32_t *out_pid);

/*
 * Finds the code at a run-time address of a process at that time, on the dump's clock. If there was
 * none, finds the next code there: virtual machines report code after it has begun to run. A dump
 * with times of the processor's counter is looked up without time. The output is untouched unless
 * it is found.
 */
LodeJitOutcome lode_jit_code_set_find(const LodeJitCodeSet *self, uint32_t pid, uint64_t address,
	uint64_t time_ns, LodeJitPlace *out_place);
