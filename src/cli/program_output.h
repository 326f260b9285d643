/* SPDX-License-Identifier: MIT */
/*
 * What a program writes to the terminal while a picture is there: into a file, from which it is
 * shown later.
 *
 *   the program's output, error ──┐ where they are the terminal
 *   ours                        ──┴─▶ program-output.txt ─▶ the terminal, afterwards
 *
 * It is our own descriptors that are diverted, which a program that we start then has from us. An
 * input that is the terminal becomes an empty one, as the keys are the picture's.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#define LODE_PROGRAM_OUTPUT_NAME "program-output.txt"

typedef struct {
	int file;     /* −1: nothing is diverted */
	int saved[3]; /* what the descriptors were; −1: not diverted */
	off_t shown;  /* bytes of the file that were shown already */
} LodeProgramOutput;

/* Errors: _IO. */
bool lode_program_output_divert(LodeProgramOutput *self, const char *directory, GError **error);

/* The descriptors are again what they were. */
void lode_program_output_restore(LodeProgramOutput *self);

/* Writes what has come since the last time to where it was meant for. */
void lode_program_output_show(LodeProgramOutput *self);

/* Writes a line of ours there. */
void lode_program_output_say(LodeProgramOutput *self, const char *line);

/* The last bytes of the file, at most so many, from the start of a line on; the caller frees it. */
char *lode_program_output_tail(const LodeProgramOutput *self, size_t size);

/* Restores and shows, if that is still to be done. */
void lode_program_output_clear(LodeProgramOutput *self);
