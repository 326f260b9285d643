/* SPDX-License-Identifier: MIT */
/*
 * The places that `lode annotate` shows, for each kind of argument: each a range of code in one
 * function, with the instructions in it that match.
 *
 *   sequence   a place for each occurrence, the instructions of its elements match
 *   finding    a place for each instruction that it explains, which matches, and so does its
 *              context
 *   diagnosis  a place for each of its instructions, which matches; without any, the function that
 *              calls the service
 *   function   one place; nothing matches, all of it is shown; and a place for each function that
 *              it is inlined into, where all that is inlined by it matches
 *   line       a place for each function that has code of the line, or that is inlined by it, which
 *              matches
 *
 * Private to views/.
 */
#pragma once

#include "analyses/mine/occurrences.h"
#include "views/code/annotate.h"

typedef struct {
	uint32_t instruction; /* of the place's function */
	uint32_t elements;    /* bit i: it matches element i (31: that or later) */
	double count;         /* executions that belong to the match; NaN: not known */
} LodeAnnotatedMatch;

typedef struct {
	uint32_t function;    /* of the profile */
	uint32_t instruction; /* the first one matched; a finding's focus; LODE_NONE: none */
	double executions;    /* of a function its calls */
	double share;         /* of the profile's weight */
	double time;          /* share of it that the finding or diagnosis has here; else 0 */
	uint32_t first_match, n_matches;
	uint32_t order; /* among the places as found */
} LodeAnnotatedPlace;

/* That a finding explains weight of an instruction. */
typedef struct {
	uint32_t instruction;
	uint32_t finding; /* of the run's, from 0 */
	double time;      /* share of the profile's weight */
} LodeFindingMark;

typedef struct {
	const LodeProfile *profile;
	const LodeMiningRun *run;
	const LodeAnnotateOptions *options;
	uint32_t weight_event;
	uint32_t index;               /* of the sequence, finding or diagnosis */
	GArray *places;               /* LodeAnnotatedPlace, by falling cost */
	uint32_t n_shown;             /* as many of them as the options ask for */
	GArray *matches;              /* LodeAnnotatedMatch, of the places that are shown */
	GArray *marks;                /* LodeFindingMark, by instruction and finding */
	LodeOccurrences *occurrences; /* of a sequence; else NULL */
	const char *inlined;          /* the function whose inlined instances match; else NULL */
} LodeAnnotatedPlaces;

/* Finds what the options ask for. All but the options' name is borrowed while it lives; cleared
 * also after a failure. Errors: _NOT_FOUND, _USAGE (lode_annotate_write() says for what). */
bool lode_annotated_places_init(LodeAnnotatedPlaces *self, const LodeProfile *profile,
	const LodeMiningRun *run, const LodeAnnotateOptions *options, GError **error);
void lode_annotated_places_clear(LodeAnnotatedPlaces *self);

static inline const LodeAnnotatedPlace *lode_annotated_places_at(
	const LodeAnnotatedPlaces *self, uint32_t place)
{
	return &g_array_index(self->places, LodeAnnotatedPlace, place);
}

/* Whether all of its function is shown. */
bool lode_annotated_place_is_whole(
	const LodeAnnotatedPlaces *self, const LodeAnnotatedPlace *place);

/* The marks of an instruction, borrowed; LODE_NONE has none. */
const LodeFindingMark *lode_annotated_places_marks(
	const LodeAnnotatedPlaces *self, uint32_t instruction, uint32_t *out_n);

/* The weight that the findings explain in a function, or in all places of a line: a double for each
 * of the run's findings, 0 for those that explain nothing here. The caller unrefs it. */
GArray *lode_annotated_places_explained(const LodeAnnotatedPlaces *self);
