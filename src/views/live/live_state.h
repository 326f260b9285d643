/* SPDX-License-Identifier: MIT */
/*
 * The user's choices in a live picture, and the keys that change them.
 *
 *   key ─▶ lode_live_state_key() ─▶ the state has changed, or an action outside of it is wanted:
 * stop sampling, quit …
 */
#pragma once

#include "views/live/live_scene.h"

/* Keys that are not characters. Others are as Unicode has them. */
enum {
	LODE_LIVE_KEY_UP = 0x110000,
	LODE_LIVE_KEY_DOWN,
	LODE_LIVE_KEY_LEFT,
	LODE_LIVE_KEY_RIGHT,
	LODE_LIVE_KEY_PAGE_UP,
	LODE_LIVE_KEY_PAGE_DOWN,
	LODE_LIVE_KEY_HOME,
	LODE_LIVE_KEY_END,
	LODE_LIVE_KEY_ENTER,
	LODE_LIVE_KEY_BACKSPACE,
	LODE_LIVE_KEY_ESCAPE,
	LODE_LIVE_KEY_F1, /* F1 to F10 follow each other */
	LODE_LIVE_KEY_F10 = LODE_LIVE_KEY_F1 + 9,
};

typedef enum {
	LODE_LIVE_NOTHING, /* draw again, and that is all */
	LODE_LIVE_QUIT,
	LODE_LIVE_PAUSE,  /* of the picture: the state says whether it is on now */
	LODE_LIVE_SAMPLE, /* start or stop sampling */
	LODE_LIVE_FREEZE, /* the counts: the state says whether they are now */
	LODE_LIVE_RESET,  /* the counts */
	LODE_LIVE_REPAINT,
} LodeLiveWish;

typedef enum {
	LODE_LIVE_SHOWS_ADDRESSES,
	LODE_LIVE_SHOWS_HELP,
	LODE_LIVE_SHOWS_OUTPUT, /* of the program */
} LodeLivePage;

struct LodeLiveState {
	uint64_t granularity; /* bytes, a power of two */
	LodeLiveMeasure measure;
	GArray *zooms;      /* LodeLiveZoom, the last one is shown; empty: all */
	uint64_t cursor;    /* an address */
	uint32_t thread;    /* the chosen one: its index; UINT32_MAX: all */
	GHashTable *tagged; /* threads */
	bool only_tagged;
	unsigned first_row, first_range; /* that are seen */
	unsigned scroll; /* lines of a page of text: of help from its start, of output from its end
	                  */
	LodeLivePage page;
	bool is_paused, is_frozen;
};

void lode_live_state_init(LodeLiveState *self);
void lode_live_state_clear(LodeLiveState *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeLiveState, lode_live_state_clear)

/* `scene` is the one that the user sees. */
LodeLiveWish lode_live_state_key(LodeLiveState *self, const LodeLiveScene *scene, uint32_t key);
