/* SPDX-License-Identifier: MIT */
/* Traces of a program and its processes → profile while they run, without a file between:
 *
 *   recorder ──frames──▶ taker ─▶ counts, caches, branches ──the program ends──▶ profile
 */
#pragma once

#include "ingest/import.h"
#include "traces/trace_taker.h"

typedef struct LodeProfile LodeProfile;
typedef struct LodeTracedImport LodeTracedImport;

/* Uses the options of traces, which are borrowed to the end; paths are ignored, and
 * `replay.function` is for the recorder. */
LodeTracedImport *lode_traced_import_new(const LodeImportOptions *options);
void lode_traced_import_free(LodeTracedImport *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTracedImport, lode_traced_import_free)

/* The receiver of the frames; borrowed. */
const LodeTraceTaker *lode_traced_import_taker(const LodeTracedImport *self);

/* How many traces have ended, once the recorder has. */
unsigned lode_traced_import_n_traces(const LodeTracedImport *self);

/* After the program, once: what lode_import() would make of its traces. The caller owns it. Errors:
 * _LIMIT, those of the JIT files. */
LodeProfile *lode_traced_import_finish(
	LodeTracedImport *self, const LodeProgress *progress, GError **error);
