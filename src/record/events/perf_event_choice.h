/* SPDX-License-Identifier: MIT */
/*
 * From the name of an event to the perf_event_attr that this kernel and machine accept.
 *
 *   "cycles:P" ─ libpfm4 ─▶ type, config ─ what is asked for ─▶ attr ─ probe, concede ─▶ attr
 *
 * Fields that an older kernel does not know, and that the samples do not need, are left out
 * silently; a loss that the user would notice (kernel code, the event itself) makes a note.
 */
#pragma once

#include "record/events/perf_kernel.h"
#include "record/perf/perf_sampler.h"

/*
 * When it samples. A timer does more often at first, so that short programs have samples enough,
 * too, and in short slices of the time while threads switch very often, as each switch sets the
 * timer anew. Between slices, only what samples always does.
 */
typedef enum {
	LODE_PERF_ALWAYS,
	LODE_PERF_AT_FIRST,
	LODE_PERF_LATER,
	LODE_PERF_IN_SLICES,
	LODE_PERF_BETWEEN_SLICES,
} LodePerfStretch;

/* Samples a second, in a slice. */
enum { LODE_PERF_SLICE_FREQUENCY = 4000 };

typedef struct {
	struct perf_event_attr attr;
	char *name;  /* as it was accepted: "cycles:upp" */
	GArray *ids; /* uint64_t, of each descriptor */
	LodePerfStretch stretch;
	bool is_aside;     /* of LodePerfSamplerOptions.aside_events */
	bool is_tracking;  /* has no samples of the program's work */
	bool is_switching; /* likewise: reports when threads begin and stop to run, and mappings
	                      of data; or samples each switch, or each wake-up */
} LodePerfChoice;

/* A timer that has no samples, for records of mappings where the kernel gives no events. The caller
 * owns the array. */
GPtrArray *lode_perf_choices_without_events(void);

/* Whether a recording that samples in slices can do without the event: it is of other stretches, or
 * aside. */
bool lode_perf_choice_is_optional(const LodePerfChoice *self);

/*
 * Reads a name: libpfm4's, "rHEX" for a raw one, "PMU/TERMS/" (lode_perf_pmu_event_read()), with
 * perf's modifiers u, k, h, p, P after a colon. *out_max_precise: 'P', take the highest precise
 * level that works. Errors: _NOT_FOUND.
 */
bool lode_perf_choice_read_name(const LodePerfKernel *kernel, const char *name,
	struct perf_event_attr *out_attr, bool *out_max_precise, char **out_stem, GError **error);

/*
 * The events of the options, LodePerfChoice, as far as the kernel accepts them; the first (or the
 * tracking event after them, which is never stopped) reports mappings. The last reports context
 * switches, unless the kernel refuses that; where it allows more and waits are asked for, that one
 * samples them too, and a further one who wakes whom. Appends to `note` how they differ from the
 * options. The caller owns the array. Errors: those of lode_perf_kernel_refuse(), and _USAGE.
 */
GPtrArray *lode_perf_choices_make(const LodePerfKernel *kernel,
	const LodePerfSamplerOptions *options, GString *note, GError **error);

/* Appends a sentence. */
void lode_perf_note(GString *note, const char *format, ...) G_GNUC_PRINTF(2, 3);
