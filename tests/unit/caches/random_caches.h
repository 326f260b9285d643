/* SPDX-License-Identifier: MIT */
/* Random hierarchies and traces for the tests of the simulator, from seeds.h. */
#pragma once

#include "caches/hierarchy/hierarchy.h"
#include "traces/frames/trace_frame.h"

/* Small caches in any combination of what a description may ask for; as text. */
char *random_hierarchy_text(void);

/* Likewise, with a first level as most have it: for code and data apart, LRU, write-back. */
char *random_usual_hierarchy_text(void);

/* As of ranges: hierarchies made of few different caches and TLBs, so that many have some in
 * common, and caches that differ in their ways alone. Texts as many as `n`; the caller frees them.
 */
void random_sweep_texts(char **out_texts, unsigned n);

/* Frames (GPtrArray of LodeTraceFrame, owned) of about so many references: loops, strides, a few
 * hot lines, threads that share lines, and now and then what no program does. */
GPtrArray *random_frames(unsigned n_references);
