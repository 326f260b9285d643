/* SPDX-License-Identifier: MIT */
/* The figures of a sequence as a report shows them: shares, or differences from a baseline's. */
#pragma once

#include "views/findings/report_key.h"

typedef struct {
	const LodeMiningRun *run;
	size_t baseline;       /* index; SIZE_MAX: none */
	uint32_t weight_event; /* of run->events: what measures cost in a run of instruction
	                          sequences; LODE_NONE: none, or another run */
} LodeReportValues;

/* `id` 0: no baseline. _NOT_FOUND: the run has no such sequence. */
bool lode_report_values_init(
	LodeReportValues *self, const LodeMiningRun *run, uint64_t id, GError **error);

/* The value of a key that is a support (shares; in instruction runs count and events), less the
 * baseline's if there is one. */
double lode_report_values_support(
	const LodeReportValues *self, LodeReportKeyKind kind, size_t index);
double lode_report_values_event(const LodeReportValues *self, uint32_t event, size_t index);

/* Cost per execution against the average instruction, Sw / Sf; no number when Sf is 0. */
double lode_report_values_cost(const LodeReportValues *self, size_t index);

/* Sequence id → index; _NOT_FOUND says which ids there are. */
bool lode_report_find_sequence(
	const LodeMiningRun *run, uint64_t id, size_t *out_index, GError **error);
