/* SPDX-License-Identifier: MIT */
/* The places of a sequence as they are shown: lines of code with what is matched on each. */
#pragma once

#include "analyses/mine/occurrences.h"
#include "views/annotate.h"
#include "views/code_lines.h"

/* Everything the forms of the view need. */
typedef struct {
	const LodeProfile *profile;
	const LodeMiningRun *run;
	const LodeAnnotateOptions *options;
	uint32_t sequence; /* index in the run */
	uint32_t weight_event;
	LodeFlowGraph *graph;
	LodeOccurrences *occurrences;
	GArray *places;         /* LodeAnnotatePlace, by falling cost */
	GHashTable *code_lines; /* function → LodeCodeLines */
} LodeAnnotation;

typedef struct {
	uint32_t place;       /* index in occurrences->places */
	uint32_t function;    /* of the profile */
	uint32_t instruction; /* the first one matched */
	double executions;
	double share; /* of the profile's weight */
} LodeAnnotatePlace;

typedef struct {
	uint32_t line;     /* of the function's code lines */
	uint32_t elements; /* LodeCoveredVertex.elements; 0: context only */
	double count;      /* executions that belong to the place's occurrences */
	bool follows_gap;  /* lines before it are left out */
} LodeAnnotateLine;

/* Finds the occurrences and orders them. Clear also after a failure. */
bool lode_annotation_init(LodeAnnotation *self, const LodeProfile *profile,
	const LodeMiningRun *run, const LodeAnnotateOptions *options, GError **error);
void lode_annotation_clear(LodeAnnotation *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeAnnotation, lode_annotation_clear)

/* The code of a function; borrowed. */
const LodeCodeLines *lode_annotation_code(LodeAnnotation *self, uint32_t function);

/* The lines to show for a place: GArray of LodeAnnotateLine, the caller unrefs it. */
GArray *lode_annotation_lines(LodeAnnotation *self, const LodeAnnotatePlace *place);

/* "1", "1 2", "32+": the numbers of the elements. */
void lode_annotate_elements_text(uint32_t elements, GString *out);

/* The forms. */
void lode_annotate_text(LodeAnnotation *self, FILE *out);
void lode_annotate_json(LodeAnnotation *self, FILE *out);
void lode_annotate_csv(LodeAnnotation *self, FILE *out);
