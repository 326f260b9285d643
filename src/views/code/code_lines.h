/* SPDX-License-Identifier: MIT */
/*
 * A function as lines to read: its code from the first byte to the last, also what never executed;
 * where a profile has no code (graphs, unresolved images), the instructions it knows.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	uint64_t address;
	uint32_t instruction; /* of the profile; LODE_NONE: never executed */
	uint32_t size;        /* bytes up to the next line; 0 without code */
} LodeCodeLine;

typedef struct LodeCodeLines {
	const LodeProfile *profile;
	uint32_t function;
	GArray *lines;     /* LodeCodeLine, by address */
	uint32_t *line_of; /* [instructions of the function]: their lines */
} LodeCodeLines;

/* The profile must outlive it; never NULL. */
LodeCodeLines *lode_code_lines_new(const LodeProfile *profile, uint32_t function);
void lode_code_lines_free(LodeCodeLines *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCodeLines, lode_code_lines_free)

/* Appends the disassembly of a line; without code the name of the vertex and its attributes. Not
 * made harmless for a terminal. */
void lode_code_lines_text(const LodeCodeLines *self, uint32_t line, GString *out);
