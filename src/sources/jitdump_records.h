/* SPDX-License-Identifier: MIT */
/*
 * Private to sources/: its records, one by one, and what is known only until all are
 * read.
 */
#pragma once

#include "base/byte_cursor.h"
#include "sources/jitdump.h"

/* Code that came to lie somewhere, in the order of the file. */
typedef struct {
	uint64_t time_ns, address;
	uint64_t old_address; /* of a move */
	uint64_t index;       /* the compiler's number, of a move */
	uint32_t unit;        /* of a load */
	bool is_move;
} LodeJitEvent;

typedef struct {
	LodeJitdump *dump;
	GArray *events; /* LodeJitEvent */
	/* What stands before the load that it belongs to; size 0: nothing. */
	uint64_t lines_offset, lines_size;
	uint64_t unwinding_size;
} LodeJitdumpReader;

/* Reads the header; gives the offset of the first record, 0 with an error. */
uint64_t lode_jitdump_read_header(LodeJitdump *self, GError **error);

/* Reads the record at *offset and moves on. False at the end of the file, or with an error. */
bool lode_jitdump_read_record(LodeJitdumpReader *self, uint64_t *offset, GError **error);

/* Text of the file as valid UTF-8, kept once. */
const char *lode_jitdump_keep_text(LodeJitdump *self, const char *text);

/* Makes the placements from the events, which it sorts. */
void lode_jitdump_place(LodeJitdump *self, GArray *events);

/* A cursor over [offset, end) of the file. */
LodeByteCursor lode_jitdump_cursor_at(const LodeJitdump *self, uint64_t offset, uint64_t end);

/*
 * Reads the contents of a record of source lines, which are of the code at that address, and gives
 * them to the unit. Lines that make no sense are left out and counted: the code is good without.
 */
void lode_jitdump_read_lines(
	LodeJitdump *self, LodeByteCursor cursor, LodeJitUnit *unit, uint64_t code_address);
