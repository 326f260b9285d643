/* SPDX-License-Identifier: MIT */
/*
 * A descriptor read as plain bytes, whether they are plain or compressed by gzip, xz, zstd or
 * bzip2, which the first bytes show. Several compressed members after each other are one stream.
 * Pipes and slow writers work: available bytes are given at once.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LodeCompressedStream LodeCompressedStream;

/* The descriptor stays the caller's; `name` is for messages. Reads the first bytes. A decompressor
 * that needs more than `max_memory` fails. Errors: _IO, _LIMIT. */
LodeCompressedStream *lode_compressed_stream_open(
	int descriptor, const char *name, uint64_t max_memory, GError **error);
void lode_compressed_stream_close(LodeCompressedStream *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCompressedStream, lode_compressed_stream_close)

/* Reads the available bytes, at least one; 0 at the end, −1 with an error that names the input and
 * the offset in it: _IO, _CORRUPT, _LIMIT. */
ptrdiff_t lode_compressed_stream_read(
	LodeCompressedStream *self, void *out, size_t size, GError **error);

/* How many bytes of the descriptor were read. */
uint64_t lode_compressed_stream_position(const LodeCompressedStream *self);

/* The command that decompresses such a file, "gzip -d"; NULL: it is plain. */
const char *lode_compressed_stream_command(const LodeCompressedStream *self);
