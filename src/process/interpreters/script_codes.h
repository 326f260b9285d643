/* SPDX-License-Identifier: MIT */
/*
 * The functions of a process' scripts that were told, by their name, file and first line: for
 * interpreters that do not say where a function ends. One in which a later line is seen is told
 * again, by another number.
 *
 * Private to process/interpreters/.
 */
#pragma once

#include "sources/perf_data/script_look.h"

typedef struct {
	const char *language;
	uint32_t *next_code; /* borrowed */
	GHashTable *known;   /* private */
	GStringChunk *texts;
	size_t n_bytes; /* of texts */
} LodeScriptCodes;

void lode_script_codes_init(LodeScriptCodes *self, const char *language, uint32_t *next_code);
void lode_script_codes_clear(LodeScriptCodes *self);

/* The text as it is kept: equal ones are one. It is freed, and may be NULL. NULL: there are too
 * many.
 */
const char *lode_script_codes_keep(LodeScriptCodes *self, char *text);

typedef struct {
	const char *function, *file; /* kept texts */
	uint32_t first_line, line;   /* 0: not known */
	uint32_t last_line;          /* that the function has, if it is known */
} LodeScriptPlace;

/* The frame of a place; its code is appended to `out_codes` (LodeScriptCode) where it was not told.
 * False: there are too many, or the line is none. */
bool lode_script_codes_find(LodeScriptCodes *self, const LodeScriptPlace *place,
	LodeScriptFrame *out_frame, GArray *out_codes);
