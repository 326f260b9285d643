/* SPDX-License-Identifier: MIT */
/*
 * Findings: what an execution of each pattern costs above the base, and where. Made by
 * analyses/findings, kept by the store with a mining run, shown by the views.
 *
 *   finding ── elements ── attributes      ⟨store⟩ → ⟪load, miss⟫: the focus is charged
 *           └─ places (instruction, time)  by time, falling
 */
#pragma once

#include "base/text/json_stream.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
	LODE_FINDING_PATTERN,
	LODE_FINDING_PLACE, /* one instruction, which no pattern explains */
} LodeFindingKind;

typedef struct {
	uint32_t first_item, n_items; /* of LodeFindings.items; none: any instruction, ⟨·⟩ */
} LodeFindingElement;

typedef struct LodeFindingPlace {
	uint32_t instruction; /* of the profile */
	double time;          /* share of all weight that the finding explains here */
} LodeFindingPlace;

typedef struct LodeFinding {
	LodeFindingKind kind;
	uint32_t first_element, n_elements; /* of LodeFindings.elements */
	uint32_t focus;             /* the element that is charged, 0 … n_elements − 1 */
	double time, time_error;    /* share of all weight, and its standard error */
	double each, each_error;    /* above the base, per execution: in units of the weight where
	                               executions were counted, else in multiples of the base */
	double executed;            /* share of all executions; −1 where they were not counted */
	uint32_t places, functions; /* that hold explained weight: half a sample, or a tenth of what
	                               the average place holds */
	double spread; /* (Σ g)² / Σ g² over functions, g the weight explained in one */
	uint32_t first_place, n_places; /* of LodeFindings.places, at most LODE_FINDING_PLACES */
} LodeFinding;

/* A pattern of less spread is listed with the places. */
#define LODE_FINDING_MIN_SPREAD 3.0
enum { LODE_FINDING_PLACES = 1000, LODE_FINDING_MAX = 64 };

typedef struct LodeFindings {
	bool is_counted;  /* executions were counted: `base` and `executed` are known */
	double base;      /* weight of an execution to which nothing applies; 0 where not counted */
	double explained; /* share of all weight that the findings explain together */
	double single;  /* share of the weight in blocks of one instruction, where not counted: what
	                   lies there says nothing of its own cost */
	double samples; /* all weight, in samples */
	double least_share;    /* above 0: patterns with a smaller share of the samples were not
	                          examined, as they have too many places to keep; not stored */
	GPtrArray *attributes; /* char *: names, owned */
	GArray *findings;      /* LodeFinding, by time, falling */
	GArray *elements;      /* LodeFindingElement */
	GArray *items;         /* uint32_t: of attributes, the most telling first */
	GArray *places;        /* LodeFindingPlace */
} LodeFindings;

/* No findings yet; never NULL. */
LodeFindings *lode_findings_new(void);
void lode_findings_free(LodeFindings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFindings, lode_findings_free)

static inline LodeFinding *lode_findings_at(const LodeFindings *self, size_t index)
{
	return &g_array_index(self->findings, LodeFinding, index);
}

/* Whether it is listed under the patterns of the first screen: spread over several functions. */
bool lode_finding_is_spread(const LodeFinding *self);

/*
 * The cost of an execution above the base where the finding is charged, by all findings together:
 * its `each` and that of others at the same instructions, as ⟪load⟫ at each ⟪load, miss⟫. Puts the
 * one that adds most into out_other, LODE_NONE if none adds anything. Only the places that a
 * profile keeps count.
 */
double lode_finding_each_in_all(const LodeFindings *self, uint32_t index, uint32_t *out_other);

/* "pattern", "place", and back (−1: unknown word). */
const char *lode_finding_kind_to_text(LodeFindingKind value);
int lode_finding_kind_from_text(const char *text);

/* "⟨store⟩ → ⟪load miss⟫"; attributes of the usual namespaces without them. The caller frees it. */
char *lode_finding_text(const LodeFindings *self, const LodeFinding *finding);

/* "load miss": its instruction alone. The caller frees it. */
char *lode_finding_focus_text(const LodeFindings *self, const LodeFinding *finding);

/* Appends an attribute as lode_finding_text() shows it: "needs load", "branch-miss ≥ 10 %". */
void lode_attribute_append_text(GString *out, const char *name);

/*
 * The attributes of a text that shows some so, whole patterns or parts of them: "⟪load pointer,
 * needs div⟫ → ⟨ret⟩" has load, pointer, needs:div and ret. Names that are not shown differently
 * stay, also globs. A GPtrArray of strings, which the caller unrefs.
 */
GPtrArray *lode_attributes_read(const char *text);

/* The text with commas for brackets and arrows. The caller frees it. */
char *lode_attributes_plain(const char *text);

/* [["mem:store"],["kind:load","ev:l1d-miss"]]: the elements with whole names; [] is any
 * instruction. */
void lode_finding_json(const LodeFindings *self, const LodeFinding *finding, LodeJsonStream *json);
