/* SPDX-License-Identifier: MIT */
/*
 * The common part of views of data addresses that are one table:
 *
 *   text   title, what has an address, lines, the table, notes
 *   JSON   the profile, members, the notes, more members, "rows"
 *   CSV    the rows
 *
 * Private to views/.
 */
#pragma once

#include "views/form/listing.h"
#include "views/memory/memory_notes.h"

typedef struct LodeProfile LodeProfile;
typedef struct LodeMemoryDocument LodeMemoryDocument;

/* Members that may be NULL are left out then. */
typedef struct {
	/* Above the table. May be NULL. */
	void (*write_lines)(
		const LodeMemoryDocument *self, const LodeTerminal *terminal, FILE *out);
	/* Whole lines of members, before the notes and after them. May be NULL. */
	void (*put_before)(const LodeMemoryDocument *self, LodeJsonStream *json);
	void (*put_after)(const LodeMemoryDocument *self, LodeJsonStream *json);
} LodeMemoryDocumentParts;

struct LodeMemoryDocument {
	const LodeMemoryDocumentParts *parts;
	const LodeProfile *profile;
	const void *result;  /* for the parts */
	const char *subject; /* "allocations" */
	const char *nothing; /* in place of a table without rows */
	LodeListing listing; /* its functions get the document itself */
	bool has_head;       /* in text: what share of the weight has an address */
};

/* Errors: _IO. */
bool lode_memory_document_write(const LodeMemoryDocument *self,
	const LodeMemoryViewOptions *options, FILE *out, GError **error);
