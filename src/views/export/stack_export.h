/* SPDX-License-Identifier: MIT */
/*
 * Call stacks for other tools:
 *
 *   profile.stacks ─┐              ┌─▶ folded    flamegraph.pl, speedscope
 *                   ├─▶ export ────┼─▶ pprof     go tool pprof
 *   or its costs  ──┘              └─▶ firefox   profiler.firefox.com
 *
 * A profile without call stacks gives a stack for each instruction: of its function, and of
 * functions inlined there; a format with threads and times, one for each sample.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct LodeFrame LodeFrame;
typedef struct LodeStacks LodeStacks;
typedef struct LodeFunction LodeFunction;
typedef struct LodeProfile LodeProfile;

typedef struct {
	const LodeProfile *profile; /* borrowed, with its stacks */
	const LodeStacks *stacks;   /* the profile's, or made */
	LodeStacks *made;           /* owned; NULL: the profile has them */
	GArray *events;             /* uint32_t: those that samples have */
	uint32_t weight;            /* of them: what comes first, or alone */
} LodeStackExport;

/* `weight` is an event of the profile, or LODE_NONE for the usual one. Errors: _NOT_FOUND (the
 * event has no samples: names those that have). */
bool lode_stack_export_init(
	LodeStackExport *self, const LodeProfile *profile, uint32_t weight, GError **error);

/* For a format that has threads and times: the samples themselves also where no calls were
 * recorded, if there are samples of the event. Likewise. */
bool lode_stack_export_init_samples(
	LodeStackExport *self, const LodeProfile *profile, uint32_t weight, GError **error);
/* The samples themselves, with the callers that were recorded of each, which may be few or none.
 * The profile has stacks. Likewise. */
bool lode_stack_export_init_recorded(
	LodeStackExport *self, const LodeProfile *profile, uint32_t weight, GError **error);
void lode_stack_export_clear(LodeStackExport *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeStackExport, lode_stack_export_clear)

/* The sums of all samples of a thread at one stack. */
typedef struct {
	uint32_t thread, stack; /* stack LODE_NONE: unknown */
	const double *values;   /* of each of the export's events */
} LodeStackSum;

/* Sorted by thread and stack: LodeStackSum, whose values are part of *out_values; the caller frees
 * both. */
GArray *lode_stack_export_sums(const LodeStackExport *self, double **out_values);

/* The name of a frame: its function, or its place. The caller frees it. */
char *lode_stack_export_frame_name(const LodeFrame *frame);

/* A name as it is written into a file that may be shown on a terminal: harmless, and whole, see
 * views/form/display_text.h. The caller frees it. */
char *lode_stack_export_text(const char *text);

/* The last part of a path. */
const char *lode_stack_export_file_name(const char *path);

/* The source file of what a function has not inlined; NULL: unknown. */
const char *lode_stack_export_function_file(
	const LodeProfile *profile, const LodeFunction *function);

/* Whether values of an event are nanoseconds. */
bool lode_stack_export_is_time(const LodeProfile *profile, uint32_t event);

/*
 * Folded stacks: for each stack a line "thread;outermost;…;innermost weight", sorted. The form is
 * that of Brendan Gregg's stackcollapse programs: https://github.com/brendangregg/FlameGraph.
 * Errors: _IO.
 */
bool lode_folded_stacks_write(const LodeStackExport *self, FILE *out, GError **error);

/* pprof's profile.proto, compressed with gzip; see profile.proto. All events. Errors: _IO. */
bool lode_pprof_write(const LodeStackExport *self, FILE *out, GError **error);

/*
 * The processed format of the Firefox Profiler, version 56, which later ones read:
 * https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md.
 * Errors: _IO.
 */
bool lode_firefox_profile_write(const LodeStackExport *self, FILE *out, GError **error);
