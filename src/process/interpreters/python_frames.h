/* SPDX-License-Identifier: MIT */
/*
 * The Python code that a thread of CPython runs, read from outside while it runs:
 *
 *   _PyRuntime ─▶ interpreters ─▶ PyThreadState (by the thread's number)
 *                                     └▶ (_PyCFrame ─▶) frame ─▶ previous frame ─▶ …
 *                                                       │ code object, instruction
 *                                                       ▼
 *                                                  function, file, line
 *
 * From 3.11 on, the frames of calls lie one after the other in memory: they are read as a whole,
 * the innermost with those before it, so that they are of one moment. Everything is checked, as the
 * program changes it meanwhile: types, bounds, and that the link to a frame that was read later is
 * still there. What does not hold is torn. Of a code object all is read once, and again when its
 * head has changed.
 */
#pragma once

#include "process/interpreters/interpreter.h"

#include <sys/types.h>

/* Where the process has what the symbols name. */
typedef struct {
	uint64_t runtime, code_type, text_type, bytes_type,
		frame_type;   /* of the first, _PyRuntime */
	uint32_t version_hex; /* Py_Version; 0: there is none, before 3.11 */
} LodePythonSymbols;

typedef struct LodePythonFrames LodePythonFrames;

/* NULL: of a version that is not known, or built so that its objects lie otherwise. Numbers of code
 * are from *next_code on, which is moved. */
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

/* How a frame says which instruction runs. */
typedef enum {
	LODE_PYTHON_LAST_BYTE,      /* the last one, from the first on; −1 before it */
	LODE_PYTHON_LAST_UNIT,      /* the same in units of two bytes */
	LODE_PYTHON_POINTER_BEFORE, /* its address; before the first, that of what is before it */
	LODE_PYTHON_POINTER,
} LodePythonPosition;

/* How code says which lines it has. */
typedef enum {
	LODE_PYTHON_LNOTAB,    /* Objects/lnotab_notes.txt of CPython */
	LODE_PYTHON_RANGES,    /* PEP 626, 3.10 */
	LODE_PYTHON_LOCATIONS, /* PEP 657, Objects/locations.md */
} LodePythonTable;

/*
 * Where CPython keeps what says which Python code runs, by version: offsets of members, as its
 * headers define them (Include/internal/pycore_runtime.h, pycore_interp.h, pycore_frame.h,
 * cpython/code.h, pystate.h, frameobject.h, unicodeobject.h), on 64 bits. Members that a version
 * does not have are 0.
 */
typedef struct {
	uint32_t version; /* of PY_VERSION_HEX, its upper half: 0x030b is 3.11 */
	LodePythonPosition position;
	LodePythonTable table;
	/* _PyRuntimeState, PyInterpreterState, PyThreadState */
	uint32_t interpreters_head, next_interpreter, threads_head, next_thread;
	uint32_t interpreter, posix_thread, native_thread; /* of a thread; the last from 3.11 on */
	uint32_t top;                                      /* where its frames begin, or the… */
	bool has_cframe;                                   /* …_PyCFrame that has them at */
	uint32_t current_frame;
	/* PyFrameObject or _PyInterpreterFrame, whose head has so many bytes */
	uint32_t frame_code, frame_previous, frame_instruction, frame_owner, frame_bytes;
	uint8_t first_hidden_owner,
		last_owner; /* values of `frame_owner`: of no Python code; all */
	uint8_t tags;       /* bits of a pointer to code that are not its */
	/* PyCodeObject, whose head has so many bytes. Its instructions begin after it, or are a
	 * bytes object. */
	uint32_t code_first_line, code_file, code_name, code_lines, code_bytes, code_instructions;
	/* PyObject, PyVarObject, PyASCIIObject, PyCompactUnicodeObject, PyBytesObject,
	 * PyTypeObject */
	uint32_t type, size, text_length, text_state, ascii_bytes, text_bytes, bytes_data,
		basic_size;
	/* What types say of the size of their objects; 0: not asked */
	uint32_t size_of_code, size_of_frame, size_of_text;
} LodePythonLayout;

/* That of the process; false: no version that is known, or built otherwise. */
bool lode_python_layout_find(
	const LodePythonSymbols *symbols, const LodeForeignMemory *memory, LodePythonLayout *out);

/* A line of code from an offset in it on, up to that of the next. */
typedef struct {
	uint32_t offset, line;
} LodePythonLine;

/* Appends LodePythonLine, by offset, of no code beyond `code_bytes`: code without a line has that
 * of what is before it. Lines lie from 1 to LODE_SCRIPT_MAX_LINE; a table that says otherwise ends
 * there. */
void lode_python_lines_read(LodePythonTable kind, GBytes *table, uint32_t first_line,
	uint32_t code_bytes, GArray *out_lines);

/* The line at an offset; `first_line` where the table says nothing. */
uint32_t lode_python_lines_find(const GArray *lines, uint32_t offset, uint32_t first_line);
