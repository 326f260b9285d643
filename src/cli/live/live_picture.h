/* SPDX-License-Identifier: MIT */
/*
 * The picture that is drawn while a program is recorded:
 *
 *   recorder's thread                          picture's thread
 *   records ─▶ bounded queue ────────────────▶ addresses ─▶ counts ─▶ scene ─▶ cells ─▶ terminal
 *           ◀─ start, stop sampling ─────────  keys ──────────────────┘
 *
 * The recorder never waits for the picture: records that do not fit into the queue are not shown,
 * and counted. The recording has all of them.
 */
#pragma once

#include "record/perf/perf_observer.h"

#include <glib.h>

typedef struct LodeLivePicture LodeLivePicture;

typedef struct {
	const char *directory;             /* for the file of the program's output; must exist */
	const char *program;               /* its name or command line */
	bool start_stopped;                /* sampling is started later */
	bool charges_next_access;          /* in place of the access that waited */
	bool has_allocations;              /* their logs are written to the directory */
	const char *const *skipped_frames; /* globs: not sites of allocations; NULL: none */
} LodeLivePictureOptions;

/*
 * Takes the terminal, and diverts the output that the program writes to it; so call it right before
 * the recording. The options' strings live on. Errors: _UNSUPPORTED, with the reason why there can
 * be no picture, and _IO.
 */
LodeLivePicture *lode_live_picture_open(const LodeLivePictureOptions *options, GError **error);

/* For the sampler's options; valid until the picture is closed. */
const LodePerfObserver *lode_live_picture_observer(LodeLivePicture *self);

/* Restores the terminal and shows the output of the program. */
void lode_live_picture_close(LodeLivePicture *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLivePicture, lode_live_picture_close)
