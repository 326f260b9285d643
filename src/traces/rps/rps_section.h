/* SPDX-License-Identifier: MIT */
/*
 * The sections of an .rps file: their headers, and bodies that are one piece (descriptions and the
 * index; frames have many, see rps_frame.h).
 */
#pragma once

#include "traces/rps/stream_compressor.h"

typedef struct {
	uint32_t type, head_bytes;
	uint64_t body_bytes;
	uint64_t checksum; /* CRC-64 (ECMA-182) of the fields above and of the head */
} LodeRpsSection;

/* Bytes from its start to the next section. */
uint64_t lode_rps_section_bytes(const LodeRpsSection *self);

/* Section header and head. */
GByteArray *lode_rps_section_begin(uint32_t type, const GByteArray *head, uint64_t body_bytes);

/* From LODE_RPS_SECTION_HEADER_BYTES bytes. Errors: _CORRUPT, an unknown type or a size beyond
 * its bounds. */
bool lode_rps_section_parse(const uint8_t *bytes, LodeRpsSection *out_section, GError **error);

/* Errors: _CORRUPT. */
bool lode_rps_section_check(
	const LodeRpsSection *self, const uint8_t *head, size_t size, GError **error);

/* A whole section with one piece. */
GByteArray *lode_rps_section_pack(uint32_t type, const GByteArray *body);

/* Whether head and body of such a section are as they were written. */
bool lode_rps_section_check_body(
	const LodeRpsSection *self, const uint8_t *head, const uint8_t *body, GError **error);

/* The body of such a section: the caller owns it; it has no more than `limit` bytes. */
GByteArray *lode_rps_section_unpack(const LodeRpsSection *self, const uint8_t *head,
	const uint8_t *body, size_t limit, GError **error);

/* CRC-32 (ISO 3309), of a piece. */
uint32_t lode_rps_piece_checksum(const void *bytes, size_t size);
