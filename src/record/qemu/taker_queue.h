/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: a thread for a taker, so that it works on frames while later ones are made:
 *
 *   stream ─▶ frame, new mappings ──bounded queue──▶ taker's thread ─▶ taker
 *
 * The program waits while the queue is full. The taker's traces begin with their first frames.
 */
#pragma once

#include "traces/trace_taker.h"

typedef struct LodeTakerQueue LodeTakerQueue;

/* Borrows the taker; frames have at most some millions of references where it does not care. */
LodeTakerQueue *lode_taker_queue_new(const LodeTraceTaker *taker);

/* What fills the queue; borrowed. Descriptions of its traces are borrowed until all was taken; who
 * adds may change them until a trace ends. It ends traces from any thread. */
const LodeTraceTaker *lode_taker_queue_front(const LodeTakerQueue *self);

/* Waits until all was taken that was given so far, so that descriptions of traces that have ended
 * may be freed. */
void lode_taker_queue_wait(LodeTakerQueue *self);

/* Waits until all was taken; nothing is given any more. Errors: those of the taker. */
bool lode_taker_queue_finish(LodeTakerQueue *self, GError **error);
void lode_taker_queue_free(LodeTakerQueue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTakerQueue, lode_taker_queue_free)
