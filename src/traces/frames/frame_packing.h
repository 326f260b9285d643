/* SPDX-License-Identifier: MIT */
/*
 * One frame on its way into the file:
 *
 *   new ──▶ encode ──▶ pack_piece × n_pieces ──▶ finish ──▶ sections
 *           streams    any order, any threads    head
 *
 * No step knows of threads or of the file; what comes out depends on the frame and the level only.
 * Private to traces/.
 */
#pragma once

#include "traces/rps/rps_frame.h"
#include "traces/trace_writer.h"

typedef struct LodeFramePacking LodeFramePacking;

typedef struct {
	LodeTraceLevel level;
	uint32_t dictionary;          /* its number */
	bool is_dictionary_droppable; /* no later frame needs its new blocks */
} LodeFramePackingOptions;

/* Takes the frame. */
LodeFramePacking *lode_frame_packing_new(
	LodeTraceFrame *frame, const LodeFramePackingOptions *options);
void lode_frame_packing_free(LodeFramePacking *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFramePacking, lode_frame_packing_free)

/* Memory that it holds; not while a step is done. */
size_t lode_frame_packing_bytes(const LodeFramePacking *self);

/* Memory that the next three take beside that, at most about. */
size_t lode_frame_packing_encode_memory(const LodeFramePacking *self);
size_t lode_frame_packing_piece_memory(const LodeFramePacking *self, unsigned piece);
size_t lode_frame_packing_finish_memory(const LodeFramePacking *self);

/* Makes streams of the frame and lets go of it; does neither where that is hopeless. */
void lode_frame_packing_encode(LodeFramePacking *self);

/* The largest first. */
unsigned lode_frame_packing_n_pieces(const LodeFramePacking *self);

/* Gives the packed bytes, that it holds from then on. */
size_t lode_frame_packing_pack_piece(LodeFramePacking *self, unsigned piece);

/* Tries the plain form where the codec did badly, and makes the head. */
void lode_frame_packing_finish(LodeFramePacking *self);

/* The finished frame: its summary, borrowed; whether the new blocks are not in it; the bytes of the
 * section in order, GByteArray each, borrowed. */
const LodeRpsSummary *lode_frame_packing_summary(const LodeFramePacking *self);
bool lode_frame_packing_has_dropped_dictionary(const LodeFramePacking *self);
const GPtrArray *lode_frame_packing_section(const LodeFramePacking *self);
