/* SPDX-License-Identifier: MIT */
/*
 * Diagnoses: the causes of a program's cost in an engineer's words, each with its scope, what
 * supports it, what removing it would save, and the remedy. Made by analyses/diagnoses from a
 * profile and its findings, shown by the views; docs/reference/causes.md has the definitions.
 *
 *   diagnosis ── cause         a word of the catalogue, "division"
 *             ├─ scope         where: functions, one function, a loop, a service, the kernel, data
 *             ├─ time          share of the processor time at its places
 *             ├─ saves         low … high
 *             ├─ evidence      texts with a figure that was measured or computed for this program
 *             └─ places        instructions, by time, falling
 *
 * All shares are of the program's processor time, in its own code and in the kernel, 0 … 1, but for
 * those of the clock, which waiting takes too.
 */
#pragma once

#include "analyses/calls/costed_functions.h"

typedef enum {
	LODE_SCOPE_FUNCTIONS, /* a pattern over several functions */
	LODE_SCOPE_FUNCTION,
	LODE_SCOPE_LOOP,
	LODE_SCOPE_SERVICE, /* a function of a library or run-time, or a family of them */
	LODE_SCOPE_KERNEL,  /* what entered it */
	LODE_SCOPE_OBJECT,  /* data */
	LODE_SCOPE_WAIT,    /* what threads wait for, which takes no processor time */
	LODE_SCOPE_PROGRAM, /* how a program of the system is called */
	LODE_N_SCOPES,
} LodeScopeKind;

/* A line of evidence. */
typedef struct {
	char *text;   /* "49 % of the outcomes are not foretold by history (windows)" */
	double value; /* the figure in it */
	char *unit;   /* "%", "cycles", "calls" … */
} LodeEvidence;

/* The costliest place, whose own line names the diagnosis. */
typedef struct {
	uint32_t instruction; /* LODE_NONE: not known */
	char *function;       /* of the line: of the profile, or of stacks; NULL */
	const char *inlined;  /* what the line is of, where that is inlined in it; NULL: itself */
	char *file;           /* of the user's own line; NULL: not known */
	uint32_t line;        /* 0 likewise */
} LodeDiagnosisSite;

typedef struct {
	char *cause;     /* the catalogue's word */
	char *title;     /* in words: "loads of what stores of another width wrote" */
	char *name;      /* stable, to compare and mute: "division@hash_step" */
	bool is_muted;   /* known and accepted by the user (muting.h) */
	bool is_smaller; /* was set aside (lode_diagnoses_set_aside()) */
	LodeScopeKind scope;
	bool is_inlined; /* of a service: its code is in its callers, where it has other causes */
	LodeDiagnosisSite site;
	char *service;           /* "strlen", "allocator", "write"; NULL */
	char *enters;            /* globs of system calls that the service makes; NULL: none */
	char *object;            /* "struct node"; NULL */
	double time, time_error; /* at its places, and the standard error */
	double low, high;        /* what removing it saves; low NAN: only "up to high" is known;
	                            both 0: it has no remedy, and stands last */
	/* The same of the time by the clock; NAN: no waits are known. `clock` is its share of the
	 * time that all threads ran and waited. */
	double clock, clock_low, clock_high;
	GArray *evidence;     /* LodeEvidence, the most telling first */
	GPtrArray *ruled_out; /* char *: what speaks against other causes, or against this one */
	char *explanation, *remedy, *source;
	char *authors; /* the program or library of the system whose code it is, so that its authors
	                  alone can apply the remedy; NULL: the user's, or of something called */
	uint32_t places, functions; /* instructions and functions that have some of its time */
	GArray *at;       /* LodeFindingPlace, by time, falling; at most LODE_FINDING_PLACES */
	GArray *findings; /* uint32_t: numbers of findings, from 0, that have half of their time in
	                     it */
} LodeDiagnosis;

/* With fewer samples there is no diagnosis: 100 of them measure a tenth of the time as 4 to 16 %.
 */
enum { LODE_FEWEST_SAMPLES = 200 };

typedef struct {
	GPtrArray *diagnoses; /* LodeDiagnosis, by what they may save, falling: of the time by the
	                         clock where some are of waiting, else of processor time */
	/* Likewise: those that take little, and may be others in the next recording. */
	GPtrArray *smaller;
	double covered;    /* share of the processor time at the places of any */
	double foreign;    /* likewise, inside programs that the user does not build, whose
	                      diagnoses are set aside; 0: none */
	char *foreigners;  /* the names of those that have most, "cc1, as"; NULL: none */
	double user;       /* share of the processor time in the program's own code: a share of
	                      the weight of the samples times this is one of the processor time */
	double seconds;    /* the processor time; 0: not known */
	char *weight;      /* the word for what the shares are of: "time", "cycles" … */
	bool is_too_short; /* none but of waiting are made, of fewer samples than
	                      LODE_FEWEST_SAMPLES and little time */
	bool has_clock;    /* the waits of the program are known */
	bool is_by_clock;  /* some are of waiting */
	LodeCostedFunctions *functions; /* that they were made with; NULL: by hand, or no event */
} LodeDiagnoses;

/* None yet; never NULL. */
LodeDiagnoses *lode_diagnoses_new(void);
void lode_diagnoses_free(LodeDiagnoses *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeDiagnoses, lode_diagnoses_free)

/* One without places and texts, whose low is NAN; never NULL. Takes a copy of `cause`. */
LodeDiagnosis *lode_diagnosis_new(const char *cause, LodeScopeKind scope);

/* Gives texts to a diagnosis that has none yet: copies of these; NULL: it has no such text. */
void lode_diagnosis_set_texts(
	LodeDiagnosis *self, const char *explanation, const char *remedy, const char *source);
void lode_diagnosis_free(LodeDiagnosis *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeDiagnosis, lode_diagnosis_free)

/* Adds a line of evidence. */
void lode_diagnosis_add_evidence(LodeDiagnosis *self, double value, const char *unit,
	const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Adds a line on what speaks against it or against other causes. */
void lode_diagnosis_rule_out(LodeDiagnosis *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

/*
 * Says that removing the cause saves `least` to `most` times its time, which is known with its
 * error: the ends of an interval for 8 of 10 cases go by 1.28 errors less and more. No more than
 * `limit`. `least` NAN: not known.
 */
void lode_diagnosis_set_saves(LodeDiagnosis *self, double least, double most, double limit);

/* False of one that has no remedy. */
static inline bool lode_diagnosis_saves(const LodeDiagnosis *self)
{
	return self->scope == LODE_SCOPE_WAIT || self->high > 0;
}

/* Puts its places in their order. */
void lode_diagnosis_sort_places(LodeDiagnosis *self);

/* From this share of the time by the clock on, a diagnosis is worth a line. */
#define LODE_LEAST_BY_CLOCK 0.04

/* Whether it is of the processors' time where that is next to nothing of the clock's. */
bool lode_diagnoses_is_small_by_clock(const LodeDiagnoses *self, const LodeDiagnosis *one);

/* Moves one to the smaller ones; they keep their order. */
void lode_diagnoses_set_aside(LodeDiagnoses *self, guint index);

/* Puts the smaller ones after the others. */
void lode_diagnoses_join(LodeDiagnoses *self);

static inline LodeDiagnosis *lode_diagnoses_at(const LodeDiagnoses *self, size_t index)
{
	return g_ptr_array_index(self->diagnoses, index);
}

/* "functions", "loop", "service" … */
const char *lode_scope_kind_to_text(LodeScopeKind value);
