/* SPDX-License-Identifier: MIT */
/*
 * How much of the cache lines that an instruction comes to is used, in a stretch of a window:
 *
 *   instruction   line a   line b   line b   line c   (the stretch ends)
 *                          ├───── visit ────┤         a: when it came there is not known,
 *                                                     c: it has not left
 *
 * A visit is from the first access of the instruction to a line until its next one to another line.
 * The used bytes are those of the line that any instruction accessed in the stretch, before, in or
 * after the visit. Private to ingest/windows/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	GHashTable *bytes; /* line → a bit for each byte that was accessed */
	GArray *masks;     /* uint64_t, of `bytes` */
	GArray *visits;    /* Visit */
	GArray *last;      /* by number of the code: its line and visit */
	uint32_t stretch;
} LodeLineVisits;

void lode_line_visits_init(LodeLineVisits *self);
void lode_line_visits_clear(LodeLineVisits *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeLineVisits, lode_line_visits_clear)

/* An access of one to many bytes. With `number`, the code's, it may be of a visit, which belongs to
 * the line that it begins in; UINT32_MAX: it only uses bytes. */
void lode_line_visits_add(LodeLineVisits *self, uint32_t number, uint64_t address, uint32_t size);

/* An access of that code whose address is not known. */
void lode_line_visits_break(LodeLineVisits *self, uint32_t number);

/* Ends the stretch: calls `put` for each visit that ended, with its used bytes. */
typedef void (*LodeLineVisitPut)(void *data, uint32_t number, unsigned n_bytes);
void lode_line_visits_end(LodeLineVisits *self, LodeLineVisitPut put, void *data);
