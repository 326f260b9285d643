/* SPDX-License-Identifier: MIT */
/* Two threads that access a heap, a library's data and their stacks, as a picture is given them. */
#pragma once

#include "views/live/live_counts.h"
#include "views/live/live_drawing.h"

typedef struct {
	LodeLiveCounts *counts;
	GArray *threads; /* LodeLiveThread */
	LodeLiveState state;
	LodeLiveStatus status;
	LodeLiveScene scene;
	unsigned width, height;
	LodeTerminal terminal;
} LiveWorld;

extern const char live_world_heap[], live_world_library[], live_world_stack[];

void live_world_init(LiveWorld *self, unsigned width, unsigned height);
void live_world_clear(LiveWorld *self);

/* Accesses to `n` places from `address` on, `step` bytes apart. */
typedef struct {
	uint32_t thread;
	uint8_t access;
	uint64_t address, step;
	unsigned n;
	const char *mapping, *function;
} LiveAccesses;

void live_world_access(LiveWorld *self, const LiveAccesses *accesses);

/* Makes the scene anew and presses a key; presses each character of a text. */
LodeLiveWish live_world_press(LiveWorld *self, uint32_t key);
void live_world_type(LiveWorld *self, const char *keys);

/* The screen as text; the caller frees it. `out_grid`, which may be NULL, is the caller's too. */
char *live_world_draw(LiveWorld *self, LodeCellGrid *out_grid);
