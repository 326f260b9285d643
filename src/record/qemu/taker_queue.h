/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: a thread for a taker, which works on frames while later ones are recorded:
 *
 *   stream ─▶ frame, new mappings ──bounded queue──▶ taker's thread ─▶ taker
 *
 * The program waits while the queue is full. The taker's traces begin with their first frames.
 */
#pragma once

#include "traces/trace_taker.h"

typedef struct LodeTakerQueue LodeTakerQueue;

/* Borrows the taker; if it sets no limit, frames have at most 2 Mi references. */
LodeTakerQueue *lode_taker_queue_new(const LodeTraceTaker *taker);

/* The taker that fills the queue; borrowed. Descriptions of its traces are borrowed until
 * everything was taken; the caller may extend them until a trace ends. Traces may be ended from any
 * thread. */
const LodeTraceTaker *lode_taker_queue_front(const LodeTakerQueue *self);

/* Waits until everything given so far was taken; then descriptions of ended traces may be freed. */
void lode_taker_queue_wait(LodeTakerQueue *self);

/* Waits until everything was taken; nothing may be given afterwards. Errors: those of the taker. */
bool lode_taker_queue_finish(LodeTakerQueue *self, GError **error);
void lode_taker_queue_free(LodeTakerQueue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTakerQueue, lode_taker_queue_free)
