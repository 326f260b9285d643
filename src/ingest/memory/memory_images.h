/* SPDX-License-Identifier: MIT */
/*
 * The binaries that samples with registers lie in, with what data addresses and data objects need
 * of them: functions' control flow and the types of the debug information.
 * Private to ingest/memory/.
 */
#pragma once

#include "images/binary_image.h"
#include "images/branch_targets.h"
#include "images/control_flow.h"
#include "images/data_types.h"

typedef struct LodeMemoryImages LodeMemoryImages;

typedef struct {
	char *path;
	LodeBinaryImage *binary; /* NULL: cannot be opened, or is not the one that ran */
	const LodeBinaryFunction *functions;
	size_t n_functions;
	LodeControlFlow *flows;    /* of each function; without instructions until asked for */
	LodeBranchTargets targets; /* once asked for */
	LodeDataTypes *types;      /* NULL: no debug information, or not asked for yet */
	bool has_targets, has_looked_for_types;
} LodeMemoryImage;

LodeMemoryImages *lode_memory_images_new(bool allow_debuginfod);
void lode_memory_images_free(LodeMemoryImages *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemoryImages, lode_memory_images_free)

/* The number of an image; `build_id` NULL: any. It is opened when it is new; that it cannot be is
 * no error. */
uint32_t lode_memory_images_add(LodeMemoryImages *self, const char *path, const char *build_id);

/* Valid until another is added. */
LodeMemoryImage *lode_memory_images_at(LodeMemoryImages *self, uint32_t image);

uint32_t lode_memory_images_count(const LodeMemoryImages *self);

/* The image of a path that was added, or LODE_NONE. */
uint32_t lode_memory_images_find(const LodeMemoryImages *self, const char *path);

/* The function that holds an address, or NULL. */
const LodeBinaryFunction *lode_memory_image_function(const LodeMemoryImage *self, uint64_t address);

/* Its control flow, kept; NULL where no function or no code is known. */
const LodeControlFlow *lode_memory_image_flow(LodeMemoryImage *self, uint64_t address);

/* All that the image jumps to; NULL without an image. */
const LodeBranchTargets *lode_memory_image_targets(LodeMemoryImage *self);

/* NULL without debug information. */
LodeDataTypes *lode_memory_image_types(LodeMemoryImage *self);
