/* SPDX-License-Identifier: MIT */
/*
 * The code of a program while it runs, from the files that are mapped: which image, where in it,
 * which function. An image is opened when code of it is first asked for, and stays open.
 */
#pragma once

#include "images/binary_image.h"

typedef struct LodeLiveCode LodeLiveCode;
typedef struct LodeLiveImage LodeLiveImage;

LodeLiveCode *lode_live_code_new(void);
void lode_live_code_free(LodeLiveCode *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveCode, lode_live_code_free)

/* The image of a file; NULL where it cannot be read. Borrowed. */
const LodeLiveImage *lode_live_code_image(LodeLiveCode *self, const char *path);

/* Turns an offset in the file into an address in the image; false: no code lies there. */
bool lode_live_image_place(const LodeLiveImage *self, uint64_t offset, uint64_t *out_address);

/* As lode_binary_image_bytes(). */
const uint8_t *lode_live_image_bytes(const LodeLiveImage *self, uint64_t address, size_t *out_n);

/* The name of the function at an address; NULL: unknown. One function has one pointer. */
const char *lode_live_image_function(const LodeLiveImage *self, uint64_t address);
