/* SPDX-License-Identifier: MIT */
/*
 * Binaries by their path, opened once, with the control flow of each function that was asked for:
 * what the library's rules need beside registers.
 */
#pragma once

#include "images/code/control_flow.h"
#include "images/data/data_access.h"

typedef struct ImageSetFile ImageSetFile;

typedef struct {
	GHashTable *files; /* path → ImageSetFile, NULL where it is no binary */
} ImageSet;

/* Where an instruction lies: in which image, and how far the image was moved. */
typedef struct {
	ImageSetFile *file; /* NULL: in none */
	uint64_t bias;      /* run-time address − address in the image */
} ImagePlace;

void image_set_init(ImageSet *self);
void image_set_clear(ImageSet *self);

/* `offset`: of the instruction, in the file. */
ImagePlace image_set_place(ImageSet *self, const char *path, uint64_t address, uint64_t offset);

/* What LodeDataAccessContext asks for; NULL where there are none. */
const uint8_t *image_set_bytes(const ImageSetFile *file, uint64_t address, size_t *out_n);

/* Of the function that holds an address of the image; NULL: no function does. */
const LodeControlFlow *image_set_flow(ImageSetFile *file, uint64_t address);

/* What all code of the image jumps to; NULL without an image. */
const LodeBranchTargets *image_set_targets(ImageSetFile *file);

/* The address of a function in the image; 0: there is none of that name. */
uint64_t image_set_function(ImageSet *self, const char *path, const char *name);
