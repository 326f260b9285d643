/* SPDX-License-Identifier: MIT */
/*
 * What the page shows while a program is recorded:
 *
 *   recorder's thread                      feed's thread           each stream's
 *   records ─▶ bounded queue ────────────▶ addresses ─▶ counts ──▶ picture, as JSON
 *           ◀─ start, stop sampling ───────────────────────────── POST
 *   perf.data ─▶ import ─▶ fit (live_fit.h) ─────────▶ findings ─▶ in the picture
 *
 * The recorder never waits for it: what the queue has no room for is not shown, and counted. It is
 * all in the recording.
 */
#pragma once

#include "ingest/live/live_addresses.h"
#include "record/perf/perf_observer.h"

#include <gio/gio.h>

typedef struct LodeLiveFeed LodeLiveFeed;

typedef struct {
	const char *program;   /* its name or command line */
	const char *recording; /* the perf.data file that is written; NULL: no findings. Copied */
	bool start_stopped;    /* sampling begins later */
	bool charges_next_access;  /* in place of the access that waited */
	const char *log_directory; /* where allocation logs are written to; NULL: nowhere */
	const char *const *skipped_frames;
} LodeLiveFeedOptions;

/* The options' strings live on. */
LodeLiveFeed *lode_live_feed_open(const LodeLiveFeedOptions *options);
void lode_live_feed_close(LodeLiveFeed *self); /* no stream may be left */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveFeed, lode_live_feed_close)

/* For the sampler's options; valid until the feed is closed. */
const LodePerfObserver *lode_live_feed_observer(LodeLiveFeed *self);

/* The program has ended: streams get a last picture, and end. */
void lode_live_feed_end(LodeLiveFeed *self);

const char *lode_live_feed_program(const LodeLiveFeed *self);
bool lode_live_feed_is_over(LodeLiveFeed *self);

/* Starts or stops sampling, with the recorder's next round. */
void lode_live_feed_sample(LodeLiveFeed *self, bool is_sampling);

/* What one client looks at. */
typedef struct {
	uint64_t granularity; /* bytes, a power of two */
	int measure;          /* LodeLiveMeasure */
	int thread;           /* its number; −1: all */
} LodeLiveLook;

/*
 * Waits for a picture after number *number (0: for any), and appends it to `out` as JSON. False:
 * `wait_us` have passed, or `cancellable` was cancelled, or there will be none; *out_is_over says
 * whether there will be none after this.
 */
bool lode_live_feed_next(LodeLiveFeed *self, const LodeLiveLook *look, uint64_t *number,
	gint64 wait_us, GCancellable *cancellable, GString *out, bool *out_is_over);
