/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: what a kind of file gives to a LodeBinaryImage. A new kind is a new file with
 * such a table, and a row in binary_image.c.
 */
#pragma once

#include "images/elf/binary_image.h"

typedef struct {
	/* By the first bytes or the name; the kinds are tried in the order of their rows. */
	bool (*is_file)(const char *path, const char *head, size_t head_size);
	/* As lode_binary_image_open(). Sets functions, and build_id and warning where there are. */
	LodeBinaryImage *(*open)(
		const char *path, const LodeBinaryImageOptions *options, GError **error);
	void (*close)(LodeBinaryImage *image); /* frees all but what is in LodeBinaryImage */
	const uint8_t *(*bytes)(const LodeBinaryImage *image, uint64_t address, size_t *out_n);
	bool (*has_lines)(const LodeBinaryImage *image);
	/* `calls`: as lode_binary_image_locate_calls(); NULL: not wanted. */
	void (*locate)(LodeBinaryImage *image, const uint64_t *addresses, size_t n,
		LodeBinaryLocation *out_locations, GArray *calls);
} LodeImageVariant;

/* The first member of each variant's own struct. */
struct LodeBinaryImage {
	const LodeImageVariant *variant;
	GArray *functions;     /* LodeBinaryFunction; owned */
	const char *build_id;  /* borrowed from the variant; NULL: none */
	const char *undecoded; /* as lode_binary_image_undecoded(); borrowed likewise */
	bool is_go;            /* as lode_binary_image_is_go() */
	char *warning;         /* owned; NULL: none */
};

extern const LodeImageVariant lode_image_elf, lode_image_jitdump, lode_image_perf_map;

/* The function that holds an address, or NULL. */
const LodeBinaryFunction *lode_binary_image_find(const LodeBinaryImage *self, uint64_t address);
