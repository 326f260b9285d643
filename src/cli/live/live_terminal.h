/* SPDX-License-Identifier: MIT */
/*
 * The terminal that a live picture is drawn on: cells out, keys in. There is one at a time, as
 * there is one terminal. The terminal is restored at any end of lode, also after a crash.
 */
#pragma once

#include "views/form/format.h"
#include "views/live/cell_grid.h"

#include <stdint.h>

typedef struct LodeLiveTerminal LodeLiveTerminal;

/* Takes the terminal that lode was started from. Errors: _UNSUPPORTED: there is none, it lacks a
 * capability, or it belongs to a different job. */
LodeLiveTerminal *lode_live_terminal_open(GError **error);
void lode_live_terminal_close(LodeLiveTerminal *self);

/* Its capabilities, and its present size. */
LodeTerminal lode_live_terminal_kind(const LodeLiveTerminal *self);
void lode_live_terminal_size(LodeLiveTerminal *self, unsigned *out_width, unsigned *out_height);

/* Waits for a key, at most for the given time; false: the terminal was closed. */
bool lode_live_terminal_wait(LodeLiveTerminal *self, int wake_descriptor, int timeout_ms);

/* The next key as lode_live_state_key() takes it; 0: none yet. */
uint32_t lode_live_terminal_key(LodeLiveTerminal *self);

void lode_live_terminal_show(LodeLiveTerminal *self, const LodeCellGrid *grid);

/* The next picture is drawn completely, as something else has written to the terminal. */
void lode_live_terminal_repaint(LodeLiveTerminal *self);
