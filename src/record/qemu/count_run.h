/* SPDX-License-Identifier: MIT */
/*
 * Counts what a program executes: runs it in QEMU's user-mode emulation, with a plugin that counts
 * in a file of each process (docs/reference/formats/counts.md). The program keeps our standard
 * input, output and error, its exit status and signals pass through. Programs that compile while
 * they run are made to write that down.
 */
#pragma once

#include "base/progress.h"
#include "caches/branch_predictor.h"
#include "caches/hierarchy/hierarchy.h"
#include "record/notes.h"

#include <stdbool.h>

typedef struct {
	const char *const *argv; /* NULL-terminated; argv[0] is found in PATH */
	const char *directory;   /* where the files go; must exist */
	bool has_caches;         /* misses of caches and mispredicted branches too, simulated… */
	const LodeHierarchy *caches; /* …of these; NULL: this machine's, as callgrind takes them */
	LodeBranchModel branches;    /* …and by this predictor */
	bool is_alone;           /* without the processes and programs that it forks and executes */
	const char *const *only; /* only programs of these names, see follow.h; NULL: all */
	bool is_silent;          /* what the program writes was seen already: it is discarded */
	LodeNotes notes;
	const char *const *environment; /* of the program; NULL: ours */
	double native_seconds; /* of processor time that the program takes by itself; 0: unknown */
	const LodeProgress *progress; /* of a silent run; NULL: none */
} LodeCountRunOptions;

typedef struct {
	GPtrArray *files;     /* char *: counts files, in the order of their names */
	GPtrArray *jit_files; /* char *: jitdumps of code that it compiled, see jit_runtime.h */
	char *jit_warning;    /* what of that stays unknown; NULL: nothing */
	int exit_status;      /* of the program, as wait() gives it */
	int stop_signal;      /* came meanwhile and is meant for us too, see child.h; 0: none */
} LodeCountRun;

/*
 * The estimate shown before a program is counted that takes so many seconds of processor time by
 * itself: "4 to 60 s". Neither the number of its instructions nor qemu's time for each is known:
 * the range is wider than that of the programs of bench/count_estimate.sh. A program that waits for
 * memory most of the time is counted sooner. NULL: it is not long. The caller owns it.
 */
char *lode_count_run_wait(double native_seconds, bool has_caches);

/*
 * The text shown after `done` instructions, at `per_second` instructions a second: "2.0 billion
 * instructions, up to 40 s left". The total is at most what the processor could execute in the
 * program's own time; most programs execute a half to a quarter of that, programs that wait for
 * memory a fraction. The caller owns it.
 */
char *lode_count_run_remaining(double done, double per_second, double native_seconds);

/* Why nothing can be counted here; NULL: it can. The caller owns it. */
char *lode_count_run_obstacle(const char *const *argv);

/*
 * Runs and waits. A program that ends badly is not an error: what it did until then is counted.
 * That QEMU or the plugin is missing (_NOT_FOUND), or the program is one that QEMU does not run
 * (_UNSUPPORTED, _IO), is one; so are caches of another kind (_UNSUPPORTED).
 */
LodeCountRun *lode_count_run(const LodeCountRunOptions *options, GError **error);
void lode_count_run_free(LodeCountRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCountRun, lode_count_run_free)
