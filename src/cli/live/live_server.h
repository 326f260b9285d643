/* SPDX-License-Identifier: MIT */
/*
 * --serve of the verbs that record: the page of lode serve while the program runs, and after its
 * end with the profile that was made.
 *
 *   open ─▶ the address is printed ─▶ record, with the observer ─▶ end ─▶ import ─▶ stay ─▶ close
 */
#pragma once

#include "record/perf/perf_observer.h"
#include "serve/live/live_feed.h"

typedef struct LodeLiveServer LodeLiveServer;

typedef struct {
	const char *verb;    /* "memory record" */
	const char *profile; /* that will be made; NULL: none */
	LodeLiveFeedOptions feed;
} LodeLiveServerOptions;

/* Prints the address on standard error, as standard output is the program's. The options' strings
 * live on. Errors: _UNSUPPORTED (lode was built without the page), those of lode_server_start(). */
LodeLiveServer *lode_live_server_open(const LodeLiveServerOptions *options, GError **error);
void lode_live_server_close(LodeLiveServer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveServer, lode_live_server_close)

/* For the sampler's options; valid until the page is closed. */
const LodePerfObserver *lode_live_server_observer(LodeLiveServer *self);

/* The program has ended. */
void lode_live_server_end(LodeLiveServer *self);

/* The profile, or the other result of the recording, is complete: serves until Ctrl-C. Returns at
 * once if Ctrl-C came before. */
void lode_live_server_stay(LodeLiveServer *self);
