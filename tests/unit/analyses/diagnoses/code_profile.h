/* SPDX-License-Identifier: MIT */
/*
 * Profiles of code made by hand, function by function, block by block, and the context of its
 * diagnoses. An instruction has 4 bytes; all are in one image, /home/me/program.
 */
#pragma once

#include "analyses/diagnoses/diagnosis_context.h"
#include "made_profile.h"

/* With the event "cpu-clock", which weighs; frequencies are inferred. */
LodeProfile *code_profile_new(void);

/* Begin a function, and a block of the last one. They give their numbers. */
uint32_t code_profile_function(LodeProfile *self, const char *name);
uint32_t code_profile_block(LodeProfile *self, uint8_t depth, bool is_head);

/* Adds an instruction with attributes, separated by blanks, to the last block; without one, to the
 * last function. Gives its number. */
uint32_t code_profile_add(LodeProfile *self, const char *attributes, double weight);

/* Sorts the edges, and takes the totals of the event, whose unit is a sample. */
void code_profile_finish(LodeProfile *self);

typedef struct {
	LodeCostedFunctions *functions;
	LodeOwnLines *own;
	LodeDiagnosisContext context;
} CodeContext;

/* The profile is borrowed. */
void code_context_init(CodeContext *self, const LodeProfile *profile);
void code_context_clear(CodeContext *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CodeContext, code_context_clear)

/* The text of a line of evidence; NULL: there are fewer. */
const char *evidence_at(const LodeDiagnosis *self, guint i);

/* The ends of what its time may be, in 8 of 10 cases. */
double least_time(const LodeDiagnosis *self);
double most_time(const LodeDiagnosis *self);
