/* SPDX-License-Identifier: MIT */
/*
 * A descriptor read as plain bytes, whether they come plain or compressed by gzip, xz or zstd,
 * which their magic number tells. Several compressed members after each other are one stream.
 * Pipes and slow writers work: what is there is given. No decompressor gets more than 128 MiB.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LodeCompressedStream LodeCompressedStream;

/* The descriptor stays the caller's; `name` is for messages. Reads the first bytes. Errors: _IO,
 * _LIMIT. */
LodeCompressedStream *lode_compressed_stream_open(int descriptor, const char *name, GError **error);
void lode_compressed_stream_close(LodeCompressedStream *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCompressedStream, lode_compressed_stream_close)

/* Up to `size` bytes: how many; 0 at the end; −1 with an error, which names the offset: _IO,
 * _CORRUPT, _LIMIT. */
ptrdiff_t lode_compressed_stream_read(
	LodeCompressedStream *self, char *out, size_t size, GError **error);

/* Bytes read from the descriptor so far. */
uint64_t lode_compressed_stream_bytes(const LodeCompressedStream *self);
