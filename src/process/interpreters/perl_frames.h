/* SPDX-License-Identifier: MIT */
/*
 * The Perl code that the main thread of a process runs:
 *
 *   PL_curinterp ─▶ interpreter ─▶ statement that runs (COP)
 *                        │
 *                        └▶ stack of contexts ─▶ sub (CV), statement that called it
 *
 * A statement is part of the tree of one sub's operations, whose root says which: that is read
 * once, and tells whether statement and contexts are of one moment. The statement is read before
 * and after the contexts, in one call: where neither is the innermost sub's, as that was called and
 * has returned in between, the sub has the line that it was last seen at.
 *
 * Private to process/interpreters/.
 */
#pragma once

#include "process/interpreters/interpreter.h"

/* Where Perl keeps what says which code runs, by version: offsets of members, as its headers define
 * them (intrpvar.h, cop.h, op.h, cv.h, gv.h, hv.h), on 64 bits, with threads (MULTIPLICITY). */
typedef struct {
	uint16_t interpreter_size, n_operations; /* PL_interp_size, MAXO: these tell the version */
	/* of the interpreter; statement and stack lie within HEAD_BYTES of `statement` */
	uint16_t statement, stack_info, main_root, compiling, operation;
	/* PERL_SI */
	uint16_t contexts, previous_info, context_index, context_most, info_bytes;
	/* PERL_CONTEXT */
	uint16_t context_bytes, context_kind, context_operation, context_statement, context_return,
		context_sub;
	/* OP, COP */
	uint16_t operation_next, operation_sibling, operation_target, operation_type,
		operation_flags, operation_kids, operation_first, statement_line, statement_file,
		statement_number, statement_bytes;
	uint8_t more_siblings, has_kids; /* of `operation_flags`, `operation_kids` */
	uint16_t enter_sub, next_state, debug_state, leave_eval, enter_eval;
	/* SV: its body, flags, value; XPVCV */
	uint16_t body, flags, value, sub_stash, sub_start, sub_root, sub_name, sub_flags, sub_bytes;
	/* XPVGV, XPVHV with its aux, HEK */
	uint16_t glob_name, glob_stash, stash_name, stash_name_count, key_length, key_text;
} LodePerlLayout;

extern const LodePerlLayout lode_perl_layouts[];
extern const unsigned lode_n_perl_layouts;

/* Of the symbols. */
enum { LODE_PERL_INTERPRETER, LODE_PERL_SIZE, LODE_PERL_OPERATIONS };

void *lode_perl_frames_open(
	const uint64_t *symbols, const LodeForeignMemory *memory, uint32_t *next_code);
LodeFramesOutcome lode_perl_frames_read(
	void *frames, const LodeFramesThread *thread, LodeScriptLook *out_look, GArray *out_codes);
void lode_perl_frames_close(void *frames);
