/* SPDX-License-Identifier: MIT */
/*
 * The file that an image of a profile is of, for formats that need more of it than the profile
 * keeps: only where it is the very file that ran, by its build-id and by the code of the functions
 * that the profile has.
 */
#pragma once

#include "images/elf/binary_image.h"

#include <glib.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* The image of that path or file name; `name` NULL: the program's, or if that executed nothing the
 * one that executed most. LODE_NONE: no image that is a file executed anything; _NOT_FOUND: none of
 * that name did. */
uint32_t lode_exported_binary_choose(const LodeProfile *profile, const char *name, GError **error);

/* Opens the file of an image; its functions have instructions in the profile. Errors: _NOT_FOUND,
 * _UNSUPPORTED (it is another one, which the message says), and those of opening it. */
LodeBinaryImage *lode_exported_binary_open(
	const LodeProfile *profile, uint32_t image, GError **error);

/* All executions, or weight where there are no executions, of an instruction. */
double lode_exported_binary_count(const LodeProfile *profile, uint32_t instruction);

/* Those of all instructions of each image, by its number; the caller frees it. */
double *lode_exported_binary_counts(const LodeProfile *profile);

/* By which executions are multiplied to become whole numbers. Exact ones stay as they are; others
 * have no scale: the largest becomes a milliard, so that small ones are not rounded away. */
double lode_exported_binary_scale(const LodeProfile *profile);

/* What was executed is not 0. */
uint64_t lode_exported_binary_scaled(double count, double scale);
