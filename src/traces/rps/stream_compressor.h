/* SPDX-License-Identifier: MIT */
/*
 * General compressors with one interface: bytes in pieces in, packed bytes out, and back within
 * bounds that are known before.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As they stand in the file. */
typedef enum {
	LODE_COMPRESSION_STORED,
	LODE_COMPRESSION_ZSTD,
	LODE_COMPRESSION_LZMA2, /* without a container; dictionary by the size, see the .c */
	LODE_N_COMPRESSIONS,
} LodeCompression;

typedef struct LodeStreamCompressor LodeStreamCompressor;

/* For exactly `size` bytes; `level` is the compressor's own: zstd's, or xz's preset. */
LodeStreamCompressor *lode_stream_compressor_new(
	LodeCompression compression, int level, uint64_t size);
void lode_stream_compressor_free(LodeStreamCompressor *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeStreamCompressor, lode_stream_compressor_free)

/* About what one takes while it works. */
size_t lode_stream_compressor_memory(LodeCompression compression, int level, uint64_t size);

/* All calls together: `size` bytes, as was said in the beginning. */
void lode_stream_compressor_add(LodeStreamCompressor *self, const void *bytes, size_t size);

/* Packed bytes that came out so far. */
size_t lode_stream_compressor_size(const LodeStreamCompressor *self);

/* Takes the bytes, with the room after them that arrays keep to grow, and gives them without. */
GByteArray *lode_trimmed_bytes(GByteArray *bytes);

/* The packed bytes; the caller owns them. Once, at the end. */
GByteArray *lode_stream_compressor_finish(LodeStreamCompressor *self);

typedef struct LodeStreamDecompressor LodeStreamDecompressor;

/* `packed` is borrowed; `size` is what must come out. */
LodeStreamDecompressor *lode_stream_decompressor_new(
	LodeCompression compression, const void *packed, size_t packed_size, uint64_t size);
void lode_stream_decompressor_free(LodeStreamDecompressor *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeStreamDecompressor, lode_stream_decompressor_free)

/* Exactly so many bytes; with the last of them the packed bytes must be used up. Errors: _CORRUPT,
 * _LIMIT (more memory than any writer's stream needs). */
bool lode_stream_decompressor_read(
	LodeStreamDecompressor *self, void *out, size_t size, GError **error);
