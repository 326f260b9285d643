/* SPDX-License-Identifier: MIT */
/*
 * What the parts of one diagnosis have in common: which functions are called, from which lines of
 * which functions, in loops or with the same arguments, to copy or to free.
 */
#pragma once

#include "analyses/diagnoses/diagnoses.h"
#include "analyses/diagnoses/services/service_parts.h"

/* Letters of the names in a sentence. */
enum { LODE_SERVICE_LETTERS = 34 };

/* A name, a line, or a rule with its time. */
typedef struct {
	const void *key;
	uint32_t line;     /* 0: of a function */
	uint32_t first, n; /* of the parts, the costliest, and how many */
	double cost;
	double copied; /* of it, by copies of objects */
} LodeServiceSum;

typedef struct {
	GArray *names, *lines, *functions; /* LodeServiceSum */
	double all, unknown;
	double self; /* of the services' functions, without what they call */
	double saves;
	double in_loop, unchanged, observed; /* time from calls of which it is known */
	double repeated;                     /* of them, by functions that do nothing new then */
	bool is_own;                         /* it is in the lines that are said to call */
	bool is_compared;                    /* of these, by sorts; else an interpreter's */
	double copied, freed; /* time of copying objects, and of freeing them or others */
} LodeServiceSummary;

/* Sums up parts, and adds the places of their calls to the diagnosis. */
void lode_service_summarise(const LodeServiceParts *self, guint begin, guint end,
	LodeDiagnosis *diagnosis, LodeServiceSummary *out);
void lode_service_summary_clear(LodeServiceSummary *self);

/* Of each attribute set the facts of calls; the caller frees it. */
uint16_t *lode_service_facts_of(const LodeProfile *profile);

/* The call of a part in its caller, and its facts; of what is inlined there, the costliest
 * instruction. A caller that is inlined has its line in others' code; in one without lines it must
 * be known what is called. LODE_NONE: none is known. */
uint32_t lode_service_find_call(
	const LodeServiceParts *self, const LodeServicePart *part, uint16_t *out_facts);

/* A name as it is said: "runtime.gcBgMarkWorker" of runtime.gcBgMarkWorker.func2, and of long ones
 * without the outer namespaces. The caller frees it. */
char *lode_service_said_name(const char *key);

/* How many of the names have much enough of the time to be said, and room in so many letters; the
 * first always. */
guint lode_service_n_said(const GArray *names, double all, size_t room);

/* "malloc, free and others"; the caller frees it. */
char *lode_service_names_text(const GArray *names, double all, size_t room);

/* Whether most of what is not freed is of copies. */
bool lode_service_is_of_copies(const LodeServiceSummary *sums);

/* The user's own line that calls most, if that is much; else what calls most. Copies end elsewhere
 * than they are made. */
const LodeServiceSum *lode_service_main_line(
	const LodeServiceParts *self, const LodeServiceSummary *sums);
