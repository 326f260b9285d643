/* SPDX-License-Identifier: MIT */
/*
 * Checks: a compare and a branch, one way of which leads to a function that does not return, which
 * its name tells (checks.ini), and nowhere else.
 *
 *   cmp rsi, rdx            check:bounds
 *   jae 1f                  check:bounds
 *   …
 *   1: lea rdi, [message]
 *   call core::panicking::panic_bounds_check
 *
 * The way may have other calls before, and jumps, also out of the function, but no branch: lode
 * does not know then which of its ways is taken. Private to ingest/join/.
 */
#pragma once

#include "images/code/control_flow.h"
#include "images/elf/binary_image.h"

typedef struct LodeCodeChecks LodeCodeChecks;
typedef struct LodeImportSlots LodeImportSlots;

/* For one thread: answers about an image are kept. */
LodeCodeChecks *lode_code_checks_new(void);
void lode_code_checks_free(LodeCodeChecks *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCodeChecks, lode_code_checks_free)

/* From text in the form of checks.ini. Errors: _CORRUPT, which names the group. */
LodeCodeChecks *lode_code_checks_parse(const char *text, GError **error);

/* A kind of check: 0 none; "bounds" … as in the file, then "trap" (an instruction that stops the
 * program) and "other" (a call that nothing follows). */
const char *lode_code_checks_name(const LodeCodeChecks *self, uint8_t kind);

/* An image, and its slots (NULL: it has none), for all questions that follow; borrowed. */
void lode_code_checks_select(
	LodeCodeChecks *self, LodeBinaryImage *image, const LodeImportSlots *slots);

/* The kind of check of a conditional branch of the image, between `target` and `next`. */
uint8_t lode_code_checks_find(LodeCodeChecks *self, uint64_t target, uint64_t next);

/* The called function is small enough to have been inlined, or of a different image. */
typedef enum {
	LODE_CALLEE_ANY,
	LODE_CALLEE_SMALL, /* at most LODE_SMALL_FUNCTION bytes, of this image */
	LODE_CALLEE_PLT,   /* by way of the procedure linkage table */
} LodeCallee;

enum { LODE_SMALL_FUNCTION = 64 };

LodeCallee lode_code_callee(const LodeBinaryImage *image, uint64_t target);
