/* SPDX-License-Identifier: MIT */
/*
 * How to get from one frame to the one that called it, by the call frame information that the
 * compiler left for exceptions (.eh_frame): where, seen from the stack or frame pointer, the
 * caller's stack begins, and where the caller's frame pointer was saved.
 *
 *   pointer + cfa_offset ─▶ │ … │ frame pointer │ … │ return address │ caller's stack …
 *                                     └── frame_offset ──────────────┘ cfa
 *
 * Only what compilers emit for ordinary functions on x86-64; all else has no rule.
 * Format: DWARF 5, section 6.4; Linux Standard Base, "Exception Frames".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint32_t cfa_offset;   /* 0: the way ends here */
	uint16_t frame_offset; /* below the cfa; 0: not saved */
	bool is_from_frame_pointer;
} FrameRule;

/* The rule of the code that is returned to at `address`; false: no known code is there now. Takes
 * no lock, and allocates nothing. */
bool frame_rule_find(uint64_t address, FrameRule *out_rule);
