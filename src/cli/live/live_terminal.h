/* SPDX-License-Identifier: MIT */
/*
 * The terminal that a live picture is drawn on: cells out, keys in. There is one at a time, as
 * there is one terminal. Whatever ends us, a crash too, the terminal is restored.
 */
#pragma once

#include "views/form/format.h"
#include "views/live/cell_grid.h"

#include <stdint.h>

typedef struct LodeLiveTerminal LodeLiveTerminal;

/* Takes the terminal that we were started from. Errors: _UNSUPPORTED, where there is none, or one
 * that cannot do it, or it belongs to another job. */
LodeLiveTerminal *lode_live_terminal_open(GError **error);
void lode_live_terminal_close(LodeLiveTerminal *self);

/* What it can show, and its size now. */
LodeTerminal lode_live_terminal_kind(const LodeLiveTerminal *self);
void lode_live_terminal_size(LodeLiveTerminal *self, unsigned *out_width, unsigned *out_height);

/* Waits for a key, for so long at most; false: the terminal has gone. */
bool lode_live_terminal_wait(LodeLiveTerminal *self, int wake_descriptor, int timeout_ms);

/* The next key as lode_live_state_key() takes it; 0: none yet. */
uint32_t lode_live_terminal_key(LodeLiveTerminal *self);

void lode_live_terminal_show(LodeLiveTerminal *self, const LodeCellGrid *grid);

/* Draws all of it again the next time, as something else has written there. */
void lode_live_terminal_spoil(LodeLiveTerminal *self);
