/* SPDX-License-Identifier: MIT */
/* The members that every JSON document of a profile has: its description, and the unresolved part.
 */
#pragma once

#include "base/text/json_stream.h"

typedef struct LodeMiningRun LodeMiningRun;
typedef struct LodeProfile LodeProfile;

/* "profile": program, creator, frequency, weight_event, totals, numbers of things. */
void lode_profile_json_head(LodeJsonStream *json, const LodeProfile *profile);

/* Begins a document whose object is open: the profile, then a new line. */
void lode_profile_json_open(LodeJsonStream *json, FILE *out, const LodeProfile *profile);

/* "unresolved": reason, example, count, weight, share, places. */
void lode_profile_json_unresolved(LodeJsonStream *json, const LodeProfile *profile);

/* Begins the document on `out` with all of these; "run" where `run` is not NULL. The caller ends
 * it. */
void lode_profile_json_begin(
	LodeJsonStream *json, FILE *out, const LodeProfile *profile, const LodeMiningRun *run);
