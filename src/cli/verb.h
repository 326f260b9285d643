/* SPDX-License-Identifier: MIT */
/* The verbs that record, import, mine or write, a file verb_<name>.c each; the questions are in
 * questions/. */
#pragma once

#include "questions/verb.h"

extern const LodeVerb lode_verb_run;
extern const LodeVerb lode_verb_record;
extern const LodeVerb lode_verb_memory_record;
extern const LodeVerb lode_verb_trace_record;
extern const LodeVerb lode_verb_trace_pack;
extern const LodeVerb lode_verb_trace_unpack;
extern const LodeVerb lode_verb_trace_cut;
extern const LodeVerb lode_verb_import;
extern const LodeVerb lode_verb_export;
extern const LodeVerb lode_verb_merge;
extern const LodeVerb lode_verb_mine;
extern const LodeVerb lode_verb_place_apply;
extern const LodeVerb lode_verb_place_export;
extern const LodeVerb lode_verb_signature;
extern const LodeVerb lode_verb_classify;
extern const LodeVerb lode_verb_compare;
extern const LodeVerb lode_verb_serve;
extern const LodeVerb lode_verb_mcp;
extern const LodeVerb lode_verb_guide;
