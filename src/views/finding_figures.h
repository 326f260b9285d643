/* SPDX-License-Identifier: MIT */
/* The figures of a finding as all views show them. Private to views/. */
#pragma once

#include "model/mining_run.h"
#include "model/profile.h"

/* The unit of `each` where executions were counted: sampled clocks count nanoseconds, other events
 * count themselves. */
const char *lode_finding_unit(const LodeProfile *profile, uint32_t weight_event);

/* An amount with three digits. */
void lode_finding_append_amount(GString *out, double value);

/* "+9.7 ns", or "8.25 ×" where executions were not counted. */
void lode_finding_append_each(
	GString *out, const LodeFindings *findings, const LodeFinding *finding, const char *unit);

/* "12.8 % ±0.9" */
void lode_finding_append_time(GString *out, const LodeFinding *finding);
