/* SPDX-License-Identifier: MIT */
/* Values of events as all views show them. Private to views/. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* The unit of `each` where executions were counted: sampled clocks count nanoseconds, other events
 * count themselves. */
const char *lode_event_value_unit(const LodeProfile *profile, uint32_t weight_event);

/* A value of an event: "0.53 s" of a clock, "1,234" of others, also of LODE_NONE. */
void lode_event_value_append(
	GString *out, const LodeProfile *profile, uint32_t event, double value);
