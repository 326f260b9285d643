/* SPDX-License-Identifier: MIT */
/* The figures of a finding as all views show them. Private to views/. */
#pragma once

#include "base/text/json_stream.h"
#include "model/lines/own_lines.h"
#include "views/form/format.h"

typedef struct LodeFinding LodeFinding;
typedef struct LodeFindingPlace LodeFindingPlace;
typedef struct LodeFindings LodeFindings;

/*
 * Whether `each` is a lower bound: in the focus or before it is a branch, a call, a fence or an
 * entry, where mostly the front end is waited for. Late samples of that are spread over the
 * instructions that arrive afterwards (docs/reference/waiting.md), of which the focus is one.
 */
bool lode_finding_is_least(const LodeProfile *profile, uint32_t weight_event,
	const LodeFindings *findings, const LodeFinding *finding);

/*
 * Whether `each` is more than an instruction can take, so that the sampled run executed it far more
 * often than the one that counted: what waits in a loop for a thread, for example.
 */
bool lode_finding_is_miscounted(
	const LodeFindings *findings, const LodeFinding *finding, const char *unit);

/* "+9.7 ns", or "8.25 ×" where executions were not counted; "≥ 9.7 ns" where that is the least. */
void lode_finding_append_each(GString *out, const LodeFindings *findings,
	const LodeFinding *finding, const char *unit, bool is_least);

/* "function (file.c:12)", or the address, or a vertex's name, where no line is known; of inlined
 * code the lines down to it (lode_inlined_lines_append()). */
void lode_finding_append_place(GString *out, const LodeProfile *profile, const LodeOwnLines *own,
	uint32_t instruction, const LodeTerminal *terminal);

/* "12.8 % ±0.9" */
void lode_finding_append_time(GString *out, const LodeFinding *finding);

/* A list of objects; for the page they say which function they are in. */
void lode_finding_places_json(const LodeFindingPlace *places, guint n, const LodeProfile *profile,
	const LodeOwnLines *own, bool is_page, LodeJsonStream *json);
