/* SPDX-License-Identifier: MIT */
/*
 * The references of a frame in another interleaving of its threads: they take turns of a number of
 * instructions each, whatever the turns were in which they were recorded.
 *
 *   recorded   AAAAAAAA BBBBBBBB AAAA BBBB │ CCCC AAAA
 *   quantum    AABBAABBAABBAABBAABBAABB    │ AACCAACC        a stretch at a time
 *
 * Each thread's own order stays, and stretches of the recorded order follow each other, so that
 * references that were far apart stay apart. Inside a stretch the order by locks and barriers is
 * not kept. One that begins with a thread goes on in the order in which they came up in it.
 */
#pragma once

#include "traces/frames/trace_frame.h"

/* A stretch has at least so many references, and at least so many turns of each of two threads. */
enum { LODE_FRAME_TURNS_STRETCH = 1 << 14, LODE_FRAME_TURNS_TURNS = 8 };

/* Turns end with the block that passes `quantum` instructions, at least 1. The result is a frame of
 * its own, whose references are numbered in the new order from the same first one. */
LodeTraceFrame *lode_frame_turns_new(const LodeTraceFrame *frame, uint64_t quantum);
