/* SPDX-License-Identifier: MIT */
/*
 * Parts of services' time, each of one function that one caller calls, with its rule of
 * services.ini. Parts of one rule that others are a part of (`whole`) lie together and are one
 * diagnosis:
 *
 *   malloc  parse.c:12 30 %  rule "allocation"      ─┐
 *   free    parse.c:19 22 %  rule "allocation"      ─┴▶ whole "allocation", 52 %
 *   strlen  words.c:7  60 %  rule "length of strings" ▶ itself
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"
#include "analyses/diagnoses/rules/service_rules.h"

/* The part of a diagnosis's time that a rule needs for its texts, and a fact to be said. */
#define LODE_SERVICE_MUCH 0.2
#define LODE_SERVICE_MOST 0.5
/* The part that a function needs for its name to be said. */
#define LODE_SERVICE_NAMED 0.1

/* The time of one service that one caller has. */
typedef struct {
	const LodeServiceRule *rule, *whole;
	uint32_t service;         /* of LodeFunctionCosts */
	const char *called;       /* interned */
	const char *said;         /* likewise: its short name */
	LodeServiceCaller caller; /* its function LODE_NONE: not known */
	uint32_t call;            /* that is known to lead there; LODE_NONE: to be looked for */
} LodeServicePart;

typedef struct {
	const LodeCostedCode *code;
	const LodeDiagnosisContext *context; /* the code's */
	LodeServiceRules *rules;
	GStringChunk *strings;
	GArray *parts;        /* LodeServicePart, those of one diagnosis side by side */
	GHashTable *implicit; /* names of implicit members (special_members.h) */
	GArray *members;      /* calls of them, by function */
	uint16_t *facts_of;   /* of each attribute set: facts of calls (service_summary.h) */
	double total;         /* of the costs' event */
	double samples;
	const LodeServiceRule *keys; /* of comparisons of sorts; NULL: of none */
	double made_keys; /* time of what comparisons of sorts call to make or take apart keys */
} LodeServiceParts;

/* All parts of all services, joined. */
void lode_service_parts_init(LodeServiceParts *self, const LodeCostedCode *code);
void lode_service_parts_clear(LodeServiceParts *self);

static inline const LodeServicePart *lode_service_part_at(const LodeServiceParts *self, guint i)
{
	return &g_array_index(self->parts, LodeServicePart, i);
}

/* A cost as a share of the user's time. */
static inline double lode_service_parts_share(const LodeServiceParts *self, double cost)
{
	return self->total > 0 ? cost / self->total * self->context->user : 0;
}

static inline const char *lode_service_parts_function_name(
	const LodeServiceParts *self, uint32_t function)
{
	return lode_function_cost_at(self->context->costs, function)->name;
}

/* "std::_Hashtable::find" of its whole name: without what it returns, parameters and template
 * arguments. The caller frees it. */
char *lode_service_short_name(const char *whole_name);

/* The end of the parts of one diagnosis, and what they cost together. */
guint lode_service_parts_end(const LodeServiceParts *self, guint begin, double *out_cost);

void lode_service_parts_sort(LodeServiceParts *self);

/* Puts together what is one thing to change: comparisons of sorts that make keys, copies of
 * objects, and what has too little time of its own. (part_joins.c) */
void lode_service_parts_join(LodeServiceParts *self);

/* Whether a part is of copies of objects, or of freeing. */
bool lode_service_part_copies(const LodeServicePart *part);
bool lode_service_part_frees(const LodeServicePart *part);
