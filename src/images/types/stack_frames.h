/* SPDX-License-Identifier: MIT */
/*
 * Which frame of a thread's stack an address lies in, and who called whom, by the unwind table and
 * what the registers and the dumped stack hold.
 *
 *   lower                                                                     higher
 *   rsp − 128 ── frame of the function at the pc ── CFA ── frame of its caller ── CFA ── …
 *                       return address, saved registers ┘ from the dump
 */
#pragma once

#include "images/data/data_access.h"
#include "images/elf/binary_image.h"
#include "images/types/data_types.h"

typedef struct LodeStackFrames LodeStackFrames;

/* Borrows the image. The rules of a pc are cached. NULL: its kind has no unwind table. */
LodeStackFrames *lode_stack_frames_new(LodeBinaryImage *image);
void lode_stack_frames_free(LodeStackFrames *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeStackFrames, lode_stack_frames_free)

/* As lode_data_types_find_frame(). */
bool lode_stack_frames_find(LodeStackFrames *self, const LodeDataAccessQuestion *question,
	uint64_t address, LodeFramePlace *out_place);

/* A part of a stack as it was at the sampled moment. */
typedef struct {
	const uint8_t *bytes; /* borrowed; NULL: none */
	size_t size;
	uint64_t start; /* run-time address */
} LodeStackDump;

typedef enum {
	LODE_FRAME_CALLED, /* from where *out_return says */
	LODE_FRAME_OUTERMOST,
	LODE_FRAME_LOST,    /* the dump does not reach so far, or the registers are not known */
	LODE_FRAME_NO_RULE, /* no unwind table has it */
} LodeFrameStep;

/* Makes the registers of a function at `pc`, in the image, those of its caller; *out_return is
 * where it returns to, at run time, one byte after the call at the earliest. */
LodeFrameStep lode_stack_frames_step(LodeStackFrames *self, uint64_t pc, const LodeStackDump *dump,
	LodeUserRegisters *registers, uint64_t *out_return);
