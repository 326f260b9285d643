/* SPDX-License-Identifier: MIT */
#include "serve/turn.h"

#include "base/error.h"

enum { TICK_MS = 50 };

void lode_turn_init(LodeTurn *self)
{
	g_mutex_init(&self->lock);
	g_cond_init(&self->is_over);
	self->is_taken = false;
}

void lode_turn_clear(LodeTurn *self)
{
	g_cond_clear(&self->is_over);
	g_mutex_clear(&self->lock);
}

bool lode_turn_take(LodeTurn *self, const LodeProgress *progress, GError **error)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	while (self->is_taken && !lode_progress_is_cancelled(progress))
		g_cond_wait_until(&self->is_over, &self->lock,
			g_get_monotonic_time() + TICK_MS * G_TIME_SPAN_MILLISECOND);
	if (!self->is_taken) {
		self->is_taken = true;
		return true;
	}
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return false;
}

void lode_turn_give(LodeTurn *self)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	self->is_taken = false;
	g_cond_signal(&self->is_over);
}
