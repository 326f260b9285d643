/* SPDX-License-Identifier: MIT */
/*
 * Programs that compile while they run, and how each is made to write down what it compiles.
 *
 *   node     writes jit-PID.dump itself (--perf-prof), into its current directory always
 *   java     has an agent of ours write it, into the directory that we name
 *
 * They are known by the program's name after all symbolic links; a script that starts one of them
 * is not looked into.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct {
	const char *name; /* "Node.js"; NULL: none is known, the arguments are as they were */
	GPtrArray *argv;  /* char *, with a NULL at the end */
	char *warning;    /* what of its code will stay unknown, and why; NULL: nothing */

	char *directory, *start_directory; /* private: where dumps go, where the program starts */
	GHashTable *old_dumps;             /* private: name → its time, before the program ran */
	bool is_dump_moved;                /* private */
} LodeJitRuntime;

/*
 * What to run in place of `argv`, which is copied, so that dumps come to lie in `directory`. Never
 * NULL; a program that does not exist is not a runtime.
 */
LodeJitRuntime *lode_jit_runtime_prepare(const char *const *argv, const char *directory);
void lode_jit_runtime_free(LodeJitRuntime *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeJitRuntime, lode_jit_runtime_free)

/*
 * After the program has ended: moves the dumps that it left in its current directory, unless it was
 * the user who asked for them, and appends the paths of all to `out_files` (char *, sorted). `pids`
 * (uint32_t) are the processes that were recorded; NULL takes every dump that is new. What cannot
 * be moved is used where it is.
 */
void lode_jit_runtime_collect(LodeJitRuntime *self, const GArray *pids, GPtrArray *out_files);
