/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: which frame of a thread's stack an address lies in, by the unwind table and
 * what the registers and the dumped stack hold.
 *
 *   lower                                                                     higher
 *   rsp − 128 ── frame of the function at the pc ── CFA ── frame of its caller ── CFA ── …
 *                       return address, saved registers ┘ from the dump
 */
#pragma once

#include "images/data_access.h"
#include "images/elf_image.h"

typedef struct LodeStackFrames LodeStackFrames;

/* Borrows the image. What the unwind table says of a pc is kept. */
LodeStackFrames *lode_stack_frames_new(LodeElfImage *image);
void lode_stack_frames_free(LodeStackFrames *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeStackFrames, lode_stack_frames_free)

/* As lode_data_types_find_frame(). */
bool lode_stack_frames_find(LodeStackFrames *self, const LodeDataAccessQuestion *question,
	uint64_t address, LodeFramePlace *out_place);
