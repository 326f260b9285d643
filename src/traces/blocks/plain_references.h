/* SPDX-License-Identifier: MIT */
/*
 * The references of a frame as they are, for traces that are not of a program:
 *
 *   narrow   words   code (8 bits) │ address (its lower 56 bits)
 *            a code stands for kind, size and the upper 8 bits of the address
 *   wide     words   address (64 bits)
 *            codes   code (8 bits)
 *            a code stands for kind and size
 *   both     head    what the codes stand for, threads, references without a code
 *
 * Narrow is the usual raw form, so that a frame is never much larger than that form compressed; it
 * needs 256 codes to be enough. Words are packed and unpacked a chunk at a time.
 * Private to traces/.
 */
#pragma once

#include "traces/rps/rps_frame.h"
#include "traces/rps/stream_compressor.h"

typedef struct {
	LodeRpsForm form; /* narrow or wide */
	GByteArray *head;
	GByteArray *codes; /* wide only; else empty */
	GByteArray *words; /* packed already */
	uint64_t words_bytes;
	LodeCompression words_compression;
} LodePlainReferences;

void lode_plain_references_clear(LodePlainReferences *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodePlainReferences, lode_plain_references_clear)

/* `out` is zeroed. False: the packed words are longer than `limit`; `out` is of no use. */
bool lode_plain_references_pack(const LodeTraceFrame *frame, LodeCompression compression, int level,
	size_t limit, LodePlainReferences *out);

/* The frame again, with a dictionary of its own; the caller owns it. Errors: _CORRUPT. */
LodeTraceFrame *lode_plain_references_unpack(
	const LodePlainReferences *self, const LodeFrameHead *head, GError **error);
