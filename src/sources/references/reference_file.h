/* SPDX-License-Identifier: MIT */
/*
 * Address traces in the forms of other tools, one file for each form:
 *
 *   lackey     text of valgrind --tool=lackey --trace-mem=yes; the canonical form
 *   din        Dinero III's: label and address a line, no sizes
 *   xdin       Dinero IV's extended one: type, address and size a line
 *   champsim   64-byte records, one an instruction (input_instr of ChampSim)
 *   csv        kind,address,size,thread with a header line
 *
 * compressed by gzip, xz, zstd or bzip2, or not, from a file or a pipe.
 * docs/reference/formats/reference-forms.md says what each keeps and loses.
 */
#pragma once

#include "traces/reference.h"
#include "traces/trace_description.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum {
	LODE_REFERENCE_FORM_LACKEY,
	LODE_REFERENCE_FORM_DIN,
	LODE_REFERENCE_FORM_XDIN,
	LODE_REFERENCE_FORM_CHAMPSIM,
	LODE_REFERENCE_FORM_CSV,
	LODE_N_REFERENCE_FORMS,
} LodeReferenceForm;

/* As values of an option, in that order. */
#define LODE_REFERENCE_FORM_WORDS "lackey|din|xdin|champsim|csv"

/* "lackey", "din", "xdin", "champsim", "csv". */
const char *lode_reference_form_to_text(LodeReferenceForm value);

typedef struct LodeReferenceReader LodeReferenceReader;

/*
 * Reads from a descriptor, which stays the caller's; `name` is for messages. A form of −1 is
 * recognised by the first bytes, after decompression; an input without any is an empty trace.
 * Errors: _IO, _CORRUPT (no known form, broken compressed data), _LIMIT.
 */
LodeReferenceReader *lode_reference_reader_open(
	int descriptor, const char *name, int form, GError **error);
void lode_reference_reader_close(LodeReferenceReader *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeReferenceReader, lode_reference_reader_close)

LodeReferenceForm lode_reference_reader_form(const LodeReferenceReader *self);

/* Bytes read from the descriptor so far, for progress. */
uint64_t lode_reference_reader_bytes(const LodeReferenceReader *self);

/*
 * Reads up to `room` references and returns their number, at least those that have arrived; 0 at
 * the end; −1 with an error that names line or offset: _IO, _CORRUPT, _UNSUPPORTED, _LIMIT.
 * References before the broken place are given first.
 */
ptrdiff_t lode_reference_reader_next(
	LodeReferenceReader *self, LodeReference *out, size_t room, GError **error);

/* At the end: tool, command and totals as far as the form has them. */
void lode_reference_reader_describe(
	const LodeReferenceReader *self, LodeTraceDescription *description);

/* At the end: the parts that were not references, in words; NULL: none. The caller frees it. */
char *lode_reference_reader_losses(const LodeReferenceReader *self);

typedef struct LodeReferenceWriter LodeReferenceWriter;

/* The fields of an instruction in champsim's form, see process/champsim_instructions.h. */
typedef struct {
	bool is_branch, is_conditional;
	bool is_unknown;
	uint8_t written[2], read[4]; /* ChampSim's numbers; 0: none */
	uint64_t target;             /* of a direct branch; 0: none */
} LodeReferenceInstruction;

/* Gives the instruction of the fetch that comes after `n_before` references of the writer. False:
 * it is not known. */
typedef bool (*LodeReferenceInstructionFunc)(
	uint64_t address, uint64_t n_before, LodeReferenceInstruction *out, void *user_data);

/* Writes to `out`, which stays the caller's, uncompressed. */
LodeReferenceWriter *lode_reference_writer_new(LodeReferenceForm form, FILE *out);
void lode_reference_writer_free(LodeReferenceWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeReferenceWriter, lode_reference_writer_free)

/* Sets the source of instructions; before the first reference. Only champsim's form uses it. */
void lode_reference_writer_set_instructions(
	LodeReferenceWriter *self, LodeReferenceInstructionFunc func, void *user_data);

/* Errors: _IO; _UNSUPPORTED where a reference as such has no place in the form. */
bool lode_reference_writer_add(
	LodeReferenceWriter *self, const LodeReference *references, size_t n, GError **error);

/* Writes buffered references, and flushes `out`. */
bool lode_reference_writer_finish(LodeReferenceWriter *self, GError **error);

/* The parts of the references that the form cannot represent, in words; NULL: none. The caller
 * frees it.
 */
char *lode_reference_writer_losses(const LodeReferenceWriter *self);
