/* SPDX-License-Identifier: MIT */
/*
 * Address traces in the forms of other tools, one file for each form:
 *
 *   lackey     text of valgrind --tool=lackey --trace-mem=yes; the canonical form
 *   din        Dinero III/IV: label and address a line, with a size where there is one
 *   champsim   64-byte records, one an instruction (input_instr of ChampSim's trace.h)
 *   csv        kind,address,size,thread with a header line
 *
 * compressed by gzip, xz or zstd, or not, from a file or a pipe.
 */
#pragma once

#include "traces/reference.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum {
	LODE_REFERENCE_FORM_LACKEY,
	LODE_REFERENCE_FORM_DIN,
	LODE_REFERENCE_FORM_CHAMPSIM,
	LODE_REFERENCE_FORM_CSV,
	LODE_N_REFERENCE_FORMS,
} LodeReferenceForm;

/* "lackey", "din", "champsim", "csv"; −1 for an unknown word. */
const char *lode_reference_form_to_text(LodeReferenceForm value);
int lode_reference_form_from_text(const char *text);

typedef struct LodeReferenceReader LodeReferenceReader;

/*
 * Reads from a descriptor, which stays the caller's; `name` is for messages. A form of −1 is told
 * from the first bytes, after decompression. Errors: _IO, _CORRUPT (no known form), _UNSUPPORTED.
 */
LodeReferenceReader *lode_reference_reader_open(
	int descriptor, const char *name, int form, GError **error);
void lode_reference_reader_close(LodeReferenceReader *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeReferenceReader, lode_reference_reader_close)

LodeReferenceForm lode_reference_reader_form(const LodeReferenceReader *self);

/* Bytes read from the descriptor so far, for progress. */
uint64_t lode_reference_reader_bytes(const LodeReferenceReader *self);

/* Up to `room` references: how many; 0 at the end; −1 with an error that names line or offset. */
ptrdiff_t lode_reference_reader_next(
	LodeReferenceReader *self, LodeReference *out, size_t room, GError **error);

typedef struct LodeReferenceWriter LodeReferenceWriter;

/* Writes to `out`, which stays the caller's, uncompressed. */
LodeReferenceWriter *lode_reference_writer_new(LodeReferenceForm form, FILE *out);
void lode_reference_writer_free(LodeReferenceWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeReferenceWriter, lode_reference_writer_free)

/* Errors: _IO; _UNSUPPORTED where the form cannot hold a reference and nothing may be lost. */
bool lode_reference_writer_add(
	LodeReferenceWriter *self, const LodeReference *references, size_t n, GError **error);
bool lode_reference_writer_finish(LodeReferenceWriter *self, GError **error);
