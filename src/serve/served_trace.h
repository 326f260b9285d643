/* SPDX-License-Identifier: MIT */
/*
 * A packed address trace that is being served. It is opened for each query; only the last simulated
 * profile is kept. Private to serve/.
 */
#pragma once

#include "base/progress.h"
#include "ingest/import.h"

typedef struct LodeServedTrace LodeServedTrace;

/* Errors: as lode_trace_reader_open(). */
LodeServedTrace *lode_served_trace_open(const char *path, GError **error);
void lode_served_trace_close(LodeServedTrace *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeServedTrace, lode_served_trace_close)

const char *lode_served_trace_path(const LodeServedTrace *self);

/* The file's name without folders. */
const char *lode_served_trace_name(const LodeServedTrace *self);

/*
 * Simulates and imports the trace: a profile with misses as events, valid until it is given back;
 * the last one is kept. One client at a time has it, the others wait. Errors: _CANCELLED, also
 * while waiting, and those of lode_import().
 */
const LodeProfile *lode_served_trace_take_profile(LodeServedTrace *self,
	const LodeImportOptions *options, const char *key, const LodeProgress *progress,
	GError **error);
void lode_served_trace_give_back(LodeServedTrace *self);
