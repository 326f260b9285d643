/* SPDX-License-Identifier: MIT */
/*
 * The live view of the page while a program is recorded:
 *
 *   recorder's thread                      feed's thread           each stream's
 *   records ─▶ bounded queue ────────────▶ addresses ─▶ counts ──▶ picture, as JSON
 *           ◀─ start, stop sampling ───────────────────────────── POST
 *   perf.data ─▶ import ─▶ fit (live_fit.h) ─────────▶ findings ─▶ in the picture
 *
 * The recorder never waits for it: records that do not fit into the queue are not shown, and
 * counted. The recording has all of them.
 */
#pragma once

#include "ingest/live/live_addresses.h"
#include "record/perf/perf_observer.h"

#include <gio/gio.h>

typedef struct LodeLiveFeed LodeLiveFeed;

typedef struct {
	const char *program;   /* its name or command line */
	const char *recording; /* the perf.data file that is written; NULL: no findings. Copied */
	bool start_stopped;    /* sampling is started later */
	bool charges_next_access;  /* in place of the access that waited */
	const char *log_directory; /* the folder of allocation logs; NULL: none */
	const char *const *skipped_frames;
} LodeLiveFeedOptions;

/* The options' strings live on. */
LodeLiveFeed *lode_live_feed_open(const LodeLiveFeedOptions *options);
void lode_live_feed_close(LodeLiveFeed *self); /* no stream may be open */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveFeed, lode_live_feed_close)

/* For the sampler's options; valid until the feed is closed. */
const LodePerfObserver *lode_live_feed_observer(LodeLiveFeed *self);

/* The program has ended: streams get a last picture, and end. */
void lode_live_feed_end(LodeLiveFeed *self);

const char *lode_live_feed_program(const LodeLiveFeed *self);
bool lode_live_feed_is_over(LodeLiveFeed *self);

/* Starts or stops sampling at the recorder's next round. */
void lode_live_feed_sample(LodeLiveFeed *self, bool is_sampling);

/* One client's view. */
typedef struct {
	uint64_t granularity; /* bytes, a power of two */
	int measure;          /* LodeLiveMeasure */
	int thread;           /* its number; −1: all */
} LodeLiveLook;

/*
 * Waits for a picture after number *number (0: any), and appends it to `out` as JSON. False:
 * `wait_us` have passed, `cancellable` was cancelled, or there are no more pictures; *out_is_over:
 * whether there are no more after this one.
 */
bool lode_live_feed_next(LodeLiveFeed *self, const LodeLiveLook *look, uint64_t *number,
	gint64 wait_us, GCancellable *cancellable, GString *out, bool *out_is_over);
