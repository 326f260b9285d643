/* SPDX-License-Identifier: MIT */
/*
 * The part that the forms of `lode annotate` share: the places, the lines of code of each, and the
 * known data of an instruction.
 *
 * Private to views/.
 */
#pragma once

#include "analyses/memory/instruction_data.h"
#include "model/lines/own_lines.h"
#include "views/code/annotated_places.h"

typedef struct LodeCodeLines LodeCodeLines;
typedef struct LodeFinding LodeFinding;

typedef struct {
	const LodeProfile *profile;
	const LodeMiningRun *run;
	const LodeAnnotateOptions *options;
	LodeAnnotatedPlaces found;
	const LodeFinding *finding;     /* NULL: another subject */
	const LodeDiagnosis *diagnosis; /* likewise */
	LodeOwnLines *own;
	GHashTable *code_lines;    /* function → LodeCodeLines */
	LodeInstructionData *data; /* NULL: no data addresses were recorded */
} LodeAnnotation;

typedef struct {
	uint32_t line;     /* of the function's code lines */
	uint32_t elements; /* LodeAnnotatedMatch.elements; 0: context only */
	double count;      /* likewise */
	bool follows_gap;  /* lines before it are left out */
	uint32_t n_unrun;  /* of a function: how many before it never ran and are left out */
} LodeAnnotationLine;

/* Finds what the options ask for. Profile, run and options are borrowed while it lives; cleared
 * also after a failure. Errors: those of lode_annotated_places_init(). */
bool lode_annotation_init(LodeAnnotation *self, const LodeProfile *profile,
	const LodeMiningRun *run, const LodeAnnotateOptions *options, GError **error);
void lode_annotation_clear(LodeAnnotation *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeAnnotation, lode_annotation_clear)

/* The code of a function, read at the first use. Borrowed from the annotation. */
const LodeCodeLines *lode_annotation_code(LodeAnnotation *self, uint32_t function);

/* The lines to show for a place: GArray of LodeAnnotationLine, the caller unrefs it. */
GArray *lode_annotation_lines(LodeAnnotation *self, const LodeAnnotatedPlace *place);

/* Appends the numbers of the elements: "1", "1 2", "32+". */
void lode_annotation_append_elements(uint32_t elements, GString *out);

/* Appends the findings that explain weight of an instruction: "F1 F7". */
void lode_annotation_append_marks(const LodeAnnotation *self, uint32_t instruction, GString *out);

/* The line that names an instruction. NULL: not known, or LODE_NONE. Borrowed from the profile. */
const LodeLocation *lode_annotation_location(const LodeAnnotation *self, uint32_t instruction);

/* The data that an instruction accessed. NULL: no sample is charged to it, or it never executed.
 * Borrowed.
 */
const LodeInstructionDatum *lode_annotation_datum(const LodeAnnotation *self, uint32_t instruction);

/* The i-th of the objects that it accessed, by falling weight; and an object's name, NULL where it
 * has none. Borrowed. */
const LodeInstructionObject *lode_annotation_object(
	const LodeAnnotation *self, const LodeInstructionDatum *datum, uint32_t i);
const char *lode_annotation_object_name(
	const LodeAnnotation *self, const LodeInstructionObject *object);

static inline bool lode_annotation_has_address(const LodeInstructionDatum *datum)
{
	return datum->least <= datum->most;
}

/* The share of all that the function's samples weigh. */
double lode_annotation_datum_share(const LodeAnnotation *self, const LodeInstructionDatum *datum);

/*
 * `lode annotate` as text, a table for each place:
 *
 *   1. deflate_fast  /usr/bin/gzip  trees.c:123
 *      3.2 % of cycles, 1,234,567 executions
 *
 *        executions  cycles  l1d-miss  address  code
 *                                               trees.c:123  x = table[i];
 *   ▶ 1   1,234,567  45,678       123     4a10  mov eax, [rdi+rcx*4]
 */

/* Write errors are left to the stream. */
void lode_annotation_write_text(LodeAnnotation *self, FILE *out);

/*
 * `lode annotate --format json`: nested by place. For the page of `lode serve` also the stretches
 * of source files that the shown code comes from. CSV: a row for each line of code, with its place.
 */

/* Write errors are left to the stream. */
void lode_annotation_write_json(LodeAnnotation *self, FILE *out);
void lode_annotation_write_csv(LodeAnnotation *self, FILE *out);
