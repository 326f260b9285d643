/* SPDX-License-Identifier: MIT */
/*
 * Two checksums: a CRC-64 over sizes and head, which are read first and believed, and a CRC-32 for
 * each piece of the body, checked where the piece is unpacked.
 */
#include "traces/rps/rps_section.h"

#include "base/error.h"
#include "traces/rps/rps_fields.h"
#include "traces/rps/rps_format.h"

#include <lzma.h>

enum { TEXT_LEVEL = 19 };

static bool fail(GError **error, const char *what)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s", what);
	return false;
}

uint64_t lode_rps_section_bytes(const LodeRpsSection *self)
{
	return LODE_RPS_SECTION_HEADER_BYTES + self->head_bytes + self->body_bytes;
}

static GByteArray *sizes(uint32_t type, uint32_t head_bytes, uint64_t body_bytes)
{
	GByteArray *out = g_byte_array_new();

	lode_rps_put_u32(out, type);
	lode_rps_put_u32(out, head_bytes);
	lode_rps_put_u64(out, body_bytes);
	return out;
}

GByteArray *lode_rps_section_begin(uint32_t type, const GByteArray *head, uint64_t body_bytes)
{
	GByteArray *out = sizes(type, head->len, body_bytes);
	uint64_t checksum = lzma_crc64(out->data, out->len, 0);

	lode_rps_put_u64(out, lzma_crc64(head->data, head->len, checksum));
	g_byte_array_append(out, head->data, head->len);
	return out;
}

/* The most that a body of the type has in a file. */
static uint64_t max_body_bytes(uint32_t type)
{
	switch (type) {
	case LODE_RPS_FRAME:
		return LODE_RPS_MAX_PACKED_BYTES;
	case LODE_RPS_DESCRIPTION:
		return LODE_RPS_MAX_TEXT_BYTES;
	case LODE_RPS_INDEX:
		return LODE_RPS_MAX_INDEX_BYTES;
	default:
		return 0;
	}
}

bool lode_rps_section_parse(const uint8_t *bytes, LodeRpsSection *out_section, GError **error)
{
	LodeByteCursor cursor;
	LodeRpsSection section;

	lode_rps_cursor_init(&cursor, bytes, LODE_RPS_SECTION_HEADER_BYTES);
	section.type = lode_byte_cursor_u32(&cursor);
	section.head_bytes = lode_byte_cursor_u32(&cursor);
	section.body_bytes = lode_byte_cursor_u64(&cursor);
	section.checksum = lode_byte_cursor_u64(&cursor);
	if (max_body_bytes(section.type) == 0)
		return fail(error, "no section begins here");
	if (section.head_bytes > LODE_RPS_MAX_HEAD_BYTES ||
		section.body_bytes > max_body_bytes(section.type))
		return fail(error, "a section larger than the format allows");
	*out_section = section;
	return true;
}

bool lode_rps_section_check(
	const LodeRpsSection *self, const uint8_t *head, size_t size, GError **error)
{
	g_autoptr(GByteArray) fields = sizes(self->type, self->head_bytes, self->body_bytes);
	uint64_t checksum = lzma_crc64(fields->data, fields->len, 0);

	return lzma_crc64(head, size, checksum) == self->checksum ||
	       fail(error, "the checksum of a section's head does not match");
}

uint32_t lode_rps_piece_checksum(const void *bytes, size_t size)
{
	return lzma_crc32(bytes, size, 0);
}

/* Stored where compression does not make it smaller, as with a few bytes. */
GByteArray *lode_rps_section_pack(uint32_t type, const GByteArray *body)
{
	g_autoptr(LodeStreamCompressor) compressor = lode_stream_compressor_new(
		LODE_COMPRESSION_ZSTD, TEXT_LEVEL, body->len);
	g_autoptr(GByteArray) head = g_byte_array_new();
	GByteArray *out;

	lode_stream_compressor_add(compressor, body->data, body->len);
	g_autoptr(GByteArray) packed = lode_stream_compressor_finish(compressor);
	bool is_stored = packed->len >= body->len;
	const GByteArray *bytes = is_stored ? body : packed;

	lode_rps_put_varint(head, body->len);
	lode_rps_put_u8(head, is_stored ? LODE_COMPRESSION_STORED : LODE_COMPRESSION_ZSTD);
	lode_rps_put_u32(head, lode_rps_piece_checksum(bytes->data, bytes->len));
	out = lode_rps_section_begin(type, head, bytes->len);
	g_byte_array_append(out, bytes->data, bytes->len);
	return out;
}

typedef struct {
	uint64_t size; /* of what comes out */
	uint8_t compression;
} Piece;

static bool check_piece(const LodeRpsSection *self, const uint8_t *head, const uint8_t *body,
	Piece *out_piece, GError **error)
{
	LodeByteCursor cursor;

	lode_rps_cursor_init(&cursor, head, self->head_bytes);
	out_piece->size = lode_rps_take_varint(&cursor);
	out_piece->compression = lode_byte_cursor_u8(&cursor);
	uint32_t checksum = lode_byte_cursor_u32(&cursor);
	if (cursor.is_overrun || lode_byte_cursor_left(&cursor) > 0 ||
		out_piece->compression >= LODE_N_COMPRESSIONS)
		return fail(error, "a section's head is damaged");
	return lode_rps_piece_checksum(body, self->body_bytes) == checksum ||
	       fail(error, "the checksum does not match");
}

bool lode_rps_section_check_body(
	const LodeRpsSection *self, const uint8_t *head, const uint8_t *body, GError **error)
{
	Piece piece;

	return check_piece(self, head, body, &piece, error);
}

GByteArray *lode_rps_section_unpack(const LodeRpsSection *self, const uint8_t *head,
	const uint8_t *body, size_t limit, GError **error)
{
	Piece piece;

	if (!check_piece(self, head, body, &piece, error))
		return NULL;
	if (piece.size > limit) {
		fail(error, "a section larger than the format allows");
		return NULL;
	}
	g_autoptr(LodeStreamDecompressor) decompressor = lode_stream_decompressor_new(
		piece.compression, body, self->body_bytes, piece.size);
	g_autoptr(GByteArray) out = g_byte_array_new();
	g_byte_array_set_size(out, (guint)piece.size);
	if (!lode_stream_decompressor_read(decompressor, out->data, piece.size, error))
		return NULL;
	return g_steal_pointer(&out);
}
