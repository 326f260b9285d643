/* SPDX-License-Identifier: MIT */
/*
 * Whether samples are taken. Threads other than the recorder may request a change, which holds from
 * the recorder's next round on.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum { LODE_SAMPLING_AS_IS, LODE_SAMPLING_ON, LODE_SAMPLING_OFF } LodeSamplingWish;

typedef struct {
	gint is_on, wish; /* atomic */
} LodeSamplingSwitch;

static inline bool lode_sampling_switch_is_on(const LodeSamplingSwitch *self)
{
	return g_atomic_int_get(&self->is_on);
}

/* The display changes at once; sampling at the recorder's next round. */
static inline void lode_sampling_switch_request(LodeSamplingSwitch *self, bool is_on)
{
	g_atomic_int_set(&self->wish, is_on ? LODE_SAMPLING_ON : LODE_SAMPLING_OFF);
	g_atomic_int_set(&self->is_on, is_on);
}

/* In the recorder's thread, at the end of a round in which sampling was on or off: whether it is in
 * the next. */
static inline bool lode_sampling_switch_turn(LodeSamplingSwitch *self, bool is_on)
{
	gint wish = g_atomic_int_get(&self->wish);

	if (wish != LODE_SAMPLING_AS_IS) {
		is_on = wish == LODE_SAMPLING_ON;
		/* Clears this wish only: there may be a newer one. */
		g_atomic_int_compare_and_exchange(&self->wish, wish, LODE_SAMPLING_AS_IS);
	}
	g_atomic_int_set(&self->is_on, is_on);
	return is_on;
}
