/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: the bits of an accessed word that the code uses. A bit field has no
 * instructions of its own: the word is loaded, and shifts and masks choose the field.
 *
 *   movzwl (%rdi), %eax      bits 0 … 15
 *   shrw   $4, %ax           bits 4 … 15
 *   andl   $31, %eax         bits 4 … 8
 *   addl   %eax, %edx        more of it is not used
 */
#pragma once

#include "images/code/control_flow.h"
#include "images/variants/elf_image.h"
#include "model/data_type.h"

/* Sets the used bits of an operand's shape, which has its size, where the instruction itself or
 * those after it in its block decide; else they stay unknown. `flow` may be NULL. */
void lode_used_bits_find(const LodeElfImage *image, const LodeControlFlow *flow, uint64_t address,
	uint8_t operand, LodeAccessShape *inout_shape);
