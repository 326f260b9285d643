/* SPDX-License-Identifier: MIT */
/*
 * The part of a profile that characterises the work, not the run: the share of the executions of
 * each frequent sequence of instructions; docs/use/classify.md. Made by analyses/signatures, kept
 * in text files by sources/signature_file.
 *
 *   kind         an element is                           a sequence, as text
 *   opcodes      an instruction's opcode                 "mov add jne"
 *   attributes   all its attributes of some namespaces   "kind:load+mem:pointer - kind:branch"
 */
#pragma once

#include "model/kinds.h"

#include <glib.h>
#include <stdint.h>

typedef enum {
	LODE_SEQUENCES_OPCODES,
	LODE_SEQUENCES_ATTRIBUTES,
	LODE_N_SEQUENCE_KINDS,
} LodeSequenceKind;

enum { LODE_SIGNATURE_LENGTHS = 4 }; /* sequences of 1 to 4 elements */

typedef struct {
	const char *text; /* elements with a blank between */
	double support;   /* share of the executions that begin it: the mean over the profiles… */
	double deviation; /* …and the standard deviation; 0 of one profile */
} LodeSignatureSequence;

/* A file whose code was executed. */
typedef struct {
	const char *text; /* "BUILD-ID NAME", without its folder; "-" where there is no build-id */
	double share;     /* of the executions, the mean over the profiles; > 0 */
} LodeSignatureFile;

/* A figure that was measured in each profile. */
typedef struct {
	double mean, deviation;
	bool is_known;
} LodeSignatureFigure;

typedef struct {
	GStringChunk *strings; /* owns the texts */
	char *name;
	uint32_t n_profiles;
	LodeFrequency frequency;                   /* of the profiles */
	double executions;                         /* of a profile, the mean */
	double min_support;                        /* sequences with less are not listed */
	char *attributes;                          /* namespaces, "kind,mem" */
	LodeSignatureFigure seconds_per_execution; /* processor time */
	LodeSignatureFigure seconds_per_unit; /* of work, where it is known how much was done */
	/* By kind and by length less 1; sorted by falling support, then by bytes; no two equal. */
	GArray *sequences[LODE_N_SEQUENCE_KINDS]
			 [LODE_SIGNATURE_LENGTHS]; /* LodeSignatureSequence */
	/* Supports of all sequences of that length, listed or not. */
	double totals[LODE_N_SEQUENCE_KINDS][LODE_SIGNATURE_LENGTHS];
	/* By falling share, then by bytes; no two equal. Empty: files are not known. */
	GArray *files; /* LodeSignatureFile */
} LodeSignature;

/* Without sequences; `name` and `attributes` are copied. */
LodeSignature *lode_signature_new(const char *name, const char *attributes);
void lode_signature_free(LodeSignature *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSignature, lode_signature_free)

/* Adds a sequence of `length` elements, the text copied, the numbers as they are in a file. */
void lode_signature_add(LodeSignature *self, LodeSequenceKind kind, unsigned length,
	const char *text, double support, double deviation);

/* Adds a file, the text copied. */
void lode_signature_add_file(LodeSignature *self, const char *text, double share);

/* The text of a file: the name without its folder, escaped as elements of sequences are; the caller
 * frees it. `build_id` NULL: it has none. */
char *lode_signature_file_text(const char *path, const char *build_id);

/* Appends a text in which blanks, plus signs, percent signs and bytes that are not printable ASCII
 * are written as "%20". */
void lode_signature_append_escaped(GString *text, const char *name);

/* A number with six digits, as files have it. */
double lode_signature_round(double value);

/* −1, 0 or 1 by falling support, then by bytes; likewise of files by share. */
int lode_signature_sequence_compare(const void *a, const void *b);
int lode_signature_file_compare(const void *a, const void *b);

/* "opcodes", "attributes". */
const char *lode_sequence_kind_to_text(LodeSequenceKind kind);
