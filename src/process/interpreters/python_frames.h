/* SPDX-License-Identifier: MIT */
/*
 * The Python code that a thread of CPython runs, read from outside while it runs:
 *
 *   _PyRuntime ─▶ interpreters ─▶ PyThreadState (by the thread's number)
 *                                     └▶ _PyCFrame ─▶ frame ─▶ previous frame ─▶ …
 *                                                       │ code object, instruction
 *                                                       ▼
 *                                                  function, file, line
 *
 * The frames of calls lie one after the other in memory: they are read as a whole, the innermost
 * with those before it, so that they are of one moment. Everything is checked, as the program
 * changes it meanwhile: types, bounds, and that the link to a frame that was read later is still
 * there. What does not hold is torn. Of a code object all is read once, and again when its head has
 * changed.
 */
#pragma once

#include "process/interpreters/interpreter.h"

#include <sys/types.h>

/* Where the process has what the symbols name. */
typedef struct {
	uint64_t runtime, code_type, text_type, bytes_type; /* of the first, _PyRuntime */
	uint32_t version_hex;                               /* Py_Version */
} LodePythonSymbols;

typedef struct LodePythonFrames LodePythonFrames;

/* NULL: of a version that is not known. Numbers of code are from *next_code on, which is moved. */
LodePythonFrames *lode_python_frames_new(
	const LodePythonSymbols *symbols, const LodeForeignMemory *memory, uint32_t *next_code);
void lode_python_frames_free(LodePythonFrames *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePythonFrames, lode_python_frames_free)

/*
 * The frames of a thread now, the innermost first: at most LODE_SCRIPT_MAX_FRAMES, where `out_look`
 * has them. Code that was not seen before is appended to `out_codes` (LodeScriptCode); its texts
 * are valid until the frames are freed.
 */
LodeFramesOutcome lode_python_frames_read(LodePythonFrames *self, pid_t tid, uint64_t now_ns,
	LodeScriptLook *out_look, GArray *out_codes);

/* --- private to process/interpreters/ --- */

/*
 * Where CPython keeps what says which Python code runs, by version: offsets of members, as its
 * headers define them (Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h,
 * cpython/code.h, unicodeobject.h), on 64 bits.
 */
typedef struct {
	uint32_t version; /* of PY_VERSION_HEX, its upper half: 0x030b is 3.11 */
	/* _PyRuntimeState, PyInterpreterState, PyThreadState */
	uint16_t interpreters_head, next_interpreter, threads_head, next_thread;
	uint16_t native_thread, cframe;
	uint16_t current_frame; /* of _PyCFrame */
	/* _PyInterpreterFrame, whose head has so many bytes */
	uint16_t frame_code, frame_previous, frame_instruction, frame_owner, frame_bytes;
	uint8_t last_owner; /* the highest value of `frame_owner` */
	/* PyCodeObject; its instructions begin after its `code_bytes` */
	uint16_t code_size, code_first_line, code_file, code_name, code_lines, code_bytes;
	/* PyObject, PyVarObject, PyASCIIObject, PyCompactUnicodeObject, PyBytesObject */
	uint16_t type, size, text_length, text_state, ascii_bytes, text_bytes, bytes_data;
} LodePythonLayout;

/* NULL: no version that is known. */
const LodePythonLayout *lode_python_layout_find(uint32_t version_hex);

/* A line of code from an offset in it on, up to that of the next: the line table from 3.11 on
 * (Objects/locations.md of CPython). */
typedef struct {
	uint32_t offset, line;
} LodePythonLine;

/* Appends LodePythonLine, by offset, of no code beyond `code_bytes`: code without a line has that
 * of what is before it. Lines lie from 1 to LODE_SCRIPT_MAX_LINE; a table that says otherwise ends
 * there. */
void lode_python_lines_read(const uint8_t *table, size_t size, uint32_t first_line,
	uint32_t code_bytes, GArray *out_lines);

/* The line at an offset; `first_line` where the table says nothing. */
uint32_t lode_python_lines_find(const GArray *lines, uint32_t offset, uint32_t first_line);
