/* SPDX-License-Identifier: MIT */
/*
 * The binaries that samples with registers lie in, with what data addresses and data objects need
 * of them: functions' control flow and the types of the debug information.
 */
#pragma once

#include "images/binary_image.h"
#include "images/branch_targets.h"
#include "images/control_flow.h"
#include "images/data_types.h"

typedef struct LodeCodeImages LodeCodeImages;

typedef struct {
	char *path;
	LodeBinaryImage *binary; /* NULL: cannot be opened, or is not the one that ran */
	const LodeBinaryFunction *functions;
	size_t n_functions;
	LodeControlFlow *flows;    /* of each function; without instructions until asked for */
	LodeBranchTargets targets; /* once asked for */
	LodeDataTypes *types;      /* NULL: no debug information, or not asked for yet */
	bool has_targets, has_looked_for_types;
} LodeCodeImage;

LodeCodeImages *lode_code_images_new(bool allow_debuginfod);
void lode_code_images_free(LodeCodeImages *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCodeImages, lode_code_images_free)

/* The number of an image; `build_id` NULL: any. It is opened when it is new; that it cannot be is
 * no error. */
uint32_t lode_code_images_add(LodeCodeImages *self, const char *path, const char *build_id);

/* Valid until another is added. */
LodeCodeImage *lode_code_images_at(LodeCodeImages *self, uint32_t image);

uint32_t lode_code_images_count(const LodeCodeImages *self);

/* The image of a path that was added, or LODE_NONE. */
uint32_t lode_code_images_find(const LodeCodeImages *self, const char *path);

/* The function that holds an address, or NULL. */
const LodeBinaryFunction *lode_code_image_function(const LodeCodeImage *self, uint64_t address);

/* Its control flow, kept; NULL where no function or no code is known. */
const LodeControlFlow *lode_code_image_flow(LodeCodeImage *self, uint64_t address);

/* All that the image jumps to; NULL without an image. */
const LodeBranchTargets *lode_code_image_targets(LodeCodeImage *self);

/* NULL without debug information. */
LodeDataTypes *lode_code_image_types(LodeCodeImage *self);
