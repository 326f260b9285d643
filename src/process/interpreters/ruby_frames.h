/* SPDX-License-Identifier: MIT */
/*
 * The Ruby code that a thread runs (CRuby):
 *
 *   ruby_current_vm_ptr ─▶ VM ─▶ thread (the main one, or by its number)
 *                                  └▶ execution context ─▶ stack of control frames
 *                                                            │ iseq, pc, environment
 *                                                            ▼
 *                                             label, file, lines   method entry ─▶ class
 *
 * A frame is complete before the context leads to it, and what left the stack stays as it was: so
 * the context and the innermost frames, which are read in one call, are of one moment. What an iseq
 * says is read once, and its head at each look.
 *
 * Private to process/interpreters/.
 */
#pragma once

#include "process/interpreters/interpreter.h"

/* Where CRuby keeps what says which code runs, by version: offsets of members, as its sources
 * define them (vm_core.h, ractor_core.h, method.h, iseq.h, internal/class.h, st.h, rstring.h,
 * rarray.h), on 64 bits. */
typedef struct {
	const char *version; /* what ruby_version begins with */
	/* rb_vm_t, rb_ractor_t, rb_thread_t, rb_execution_context_t */
	uint16_t ractors, main_thread, ractor_node, threads, thread_node, thread_context,
		thread_number;
	uint16_t context_stack, context_stack_size, context_frame;
	/* rb_control_frame_t */
	uint16_t frame_pc, frame_iseq, frame_environment, frame_bytes;
	/* rb_iseq_t and its body */
	uint16_t iseq_body, code_type, code_size, code_units, code_path, code_base_label,
		code_label, code_first_line, code_lines, code_n_lines, code_positions, code_local,
		code_bytes, line_bytes;
	uint16_t type_top, type_method, type_eval,
		last_type; /* values of `code_type`, and the highest */
	/* the method entry, and the classes' tables */
	uint16_t entry_definition, entry_owner, definition_iseq, class_extension, class_variables,
		table_end, table_entries;
	/* RBasic, RString, RArray */
	uint16_t object_class, text_length, text_pointer, text_bytes, array_pointer, array_elements;
} LodeRubyLayout;

extern const LodeRubyLayout lode_ruby_layouts[];
extern const unsigned lode_n_ruby_layouts;

enum { LODE_RUBY_VM, LODE_RUBY_OBJECT, LODE_RUBY_VERSION }; /* of the symbols */

/* The positions of lines in an iseq: a table of ranks, of 9 positions a word for the first 54, then
 * of 512 a block (struct succ_index_table of iseq.c). How many bytes it has for so many units. */
size_t lode_ruby_positions_bytes(uint32_t n_units);

/* Appends the positions (uint32_t), at most `most`. */
void lode_ruby_positions_read(const uint8_t *table, uint32_t n_units, size_t most, GArray *out);

void *lode_ruby_frames_open(
	const uint64_t *symbols, const LodeForeignMemory *memory, uint32_t *next_code);
LodeFramesOutcome lode_ruby_frames_read(
	void *frames, const LodeFramesThread *thread, LodeScriptLook *out_look, GArray *out_codes);
void lode_ruby_frames_close(void *frames);
uint64_t lode_ruby_frames_loop(const void *frames);
