/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a packed address trace, as docs/reference/formats/rps.md describes them:
 *
 *   header │ section │ section │ … │ index section │ footer
 *
 *   section:  type │ head bytes │ body bytes │ checksum │ head │ body
 *
 * The head of a section is small and covered by the checksum before it; its body is pieces, each
 * with a checksum of its own in the head.
 */
#pragma once

#define LODE_RPS_MAGIC "\211RPS\r\n\032\n"
#define LODE_RPS_END_MAGIC "\211END\r\n\032\n"

enum {
	LODE_RPS_VERSION = 1,
	LODE_RPS_MAGIC_BYTES = 8,
	LODE_RPS_HEADER_BYTES = 16, /* magic, u32 version, u32 0 */
	LODE_RPS_SECTION_HEADER_BYTES =
		24,                 /* u32 type, u32 head bytes, u64 body bytes, u64 checksum */
	LODE_RPS_FOOTER_BYTES = 32, /* u64 index offset, u64 references, u64 checksum, magic */
};

/* The type of a section, as a little-endian number of four letters. */
enum {
	LODE_RPS_FRAME = 0x4d415246,       /* FRAM */
	LODE_RPS_DESCRIPTION = 0x43534544, /* DESC */
	LODE_RPS_INDEX = 0x58444e49,       /* INDX */
};

/* The most that a reader allocates for sizes that a file claims. */
enum {
	LODE_RPS_MAX_HEAD_BYTES = 1 << 20,
	LODE_RPS_MAX_CODED_BYTES = 192 << 20,  /* of a frame's streams, decompressed */
	LODE_RPS_MAX_PACKED_BYTES = 208 << 20, /* of a frame's body */
	LODE_RPS_MAX_TEXT_BYTES = 64 << 20,    /* of a description, decompressed */
	LODE_RPS_MAX_INDEX_BYTES = 64 << 20,   /* of the index, decompressed */
	LODE_RPS_MAX_FRAMES = 1 << 19,
	LODE_RPS_MAX_TEXT_SECTIONS = 1 << 16, /* descriptions in one file */
	LODE_RPS_MAX_MAPPINGS = 1 << 20,      /* of a description; threads as in a trace */
	LODE_RPS_MAX_TOTALS = 1 << 12,
};
