/* SPDX-License-Identifier: MIT */
/* The questions, one file each: those of verbs, and those that only the page asks. */
#pragma once

#include "questions/verb.h"

extern const LodeVerb lode_question_report;
extern const LodeVerb lode_question_annotate;
extern const LodeVerb lode_question_diff;
extern const LodeVerb lode_question_memory;
extern const LodeVerb lode_question_place;
extern const LodeVerb lode_question_trace_info;
extern const LodeVerb lode_question_trace_simulate;
extern const LodeVerb lode_question_info;
extern const LodeVerb lode_question_functions;
extern const LodeVerb lode_question_flame;
extern const LodeVerb lode_question_calls;
extern const LodeVerb lode_question_graph;
extern const LodeVerb lode_question_heat;
extern const LodeVerb lode_question_programs;
extern const LodeVerb lode_question_timeline;
extern const LodeVerb lode_question_waits;

/* All of them, NULL-terminated. */
extern const LodeVerb *const lode_questions[];

/* The question of this name, in which '-' stands for a space; NULL: none. */
const LodeVerb *lode_question_find(const char *name);
