/* SPDX-License-Identifier: MIT */
/* Shows the samples with an address, by rule, and with a name, by layer; and the losses. */
#pragma once

#include "analyses/memory/coverage.h"
#include "views/memory/memory_notes.h"

typedef struct LodeProfile LodeProfile;

/* The end of a sentence about a thread that lost much; the caller frees it. */
typedef char *(*LodeMemoryLossEnd)(const LodeAddressLoss *loss, const void *user_data);

/* Sentences for the head of a view by addresses: the share of loads and stores that it lacks and,
 * where threads differ, which of them lost much. GPtrArray of strings, few; none where less than a
 * twentieth is lost. `end` NULL: that of views by page. The caller unrefs it. */
GPtrArray *lode_memory_loss_lines(const LodeProfile *profile, const LodeAddressLosses *losses,
	LodeMemoryLossEnd end, const void *user_data);

/* The threads that lost much, most first; none if all lost about as much: GArray of
 * LodeAddressLoss; the caller unrefs it. */
GArray *lode_memory_loss_threads(const LodeAddressLosses *losses);

/* Writes the member "losses" of an open JSON object: all, each thread that lost some, and the lines
 * of lode_memory_loss_lines(). */
void lode_memory_loss_json(
	const LodeProfile *profile, const LodeAddressLosses *losses, LodeJsonStream *json);

/*
 * `coverage` is what lode_memory_coverage_new() gives. CSV has the columns event,section,name and
 * those of every view of memory samples; sections are "total", "rule", "reason", "named" (by the
 * first layer that answered), "known" (by any), and of loads and stores alone "access",
 * "lost-access" (without an address) and "ranged-access" (of these, in the known pages of an
 * object): "all" and each thread. Errors: _IO.
 */
bool lode_memory_coverage_write(const LodeProfile *profile, const GArray *coverage,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);
