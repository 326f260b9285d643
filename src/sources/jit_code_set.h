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
} LodeJitPlace;

LodeJitCodeSet *lode_jit_code_set_new(void);
void lode_jit_code_set_free(LodeJitCodeSet *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeJitCodeSet, lode_jit_code_set_free)

/* Whether a file is one of these: a jitdump by its first bytes, a perf map by its name. Nothing but
 * a regular file is. */
bool lode_jit_code_set_is_file(const char *path);

/*
 * Adds a jitdump or perf map. Errors as lode_jitdump_open() and lode_perf_map_read() give them;
 * what was added before stays. One that is there already, by whatever path, is not read again. A
 * file whose name does not say perf-PID.map is read as a jitdump.
 */
bool lode_jit_code_set_add(LodeJitCodeSet *self, const char *path, GError **error);

/* How many files there are, and whose. */
unsigned lode_jit_code_set_n_files(const LodeJitCodeSet *self);
bool lode_jit_code_set_has_pid(const LodeJitCodeSet *self, uint32_t pid);

/*
 * What lay at a run-time address of a process at that time, on the dump's clock; UINT64_MAX: what
 * lay there last. Where nothing did, what came there next: virtual machines report code after it
 * has begun to run. A dump with times of the processor's counter is looked up without time. False,
 * with the output untouched: nothing that the set knows.
 */
bool lode_jit_code_set_find(const LodeJitCodeSet *self, uint32_t pid, uint64_t address,
	uint64_t time_ns, LodeJitPlace *out_place);
