/* SPDX-License-Identifier: MIT */
/* Memory of a process that runs CPython, built by the structures of each version: one thread, code
 * of ten instructions with two on each line, and frames. */
#pragma once

#include "foreign_image.h"
#include "process/interpreters/python_frames.h"

enum {
	PYTHON_IMAGE_BYTES = 1 << 21,
	PYTHON_IMAGE_TID = 4711,
	PYTHON_IMAGE_RUNTIME = 0x1000,
	PYTHON_IMAGE_INTERPRETER = 0x2000,
	PYTHON_IMAGE_THREAD = 0x5000,
	PYTHON_IMAGE_CFRAME = 0x5800,
	PYTHON_IMAGE_TYPES = 0x6000, /* of code, text, bytes, frames */
	PYTHON_IMAGE_TYPE_STEP = 0x100,
	PYTHON_IMAGE_POSIX_THREAD = 0x7000,
	PYTHON_IMAGE_FRAMES = 0x8000,
	PYTHON_IMAGE_FRAME_STEP = 112, /* of frames that are no objects: most bytes of one */
	PYTHON_IMAGE_CODES = 0x20000,
	PYTHON_IMAGE_CODE_STEP = 0x1000,
	PYTHON_IMAGE_ALLOCATED = 0x100000,
};

/* Where the structures of a version have what the image sets. */
typedef struct {
	const char *name; /* "3.8" */
	uint32_t version_hex;
	LodePythonTable table;
	LodePythonPosition position;
	size_t interpreters_head, next_interpreter, threads_head;
	size_t thread_next, thread_interpreter, thread_posix, thread_native, thread_top;
	bool has_cframe;
	size_t cframe_frame;
	size_t frame_code, frame_previous, frame_instruction, frame_owner, frame_bytes;
	uint8_t hidden_owner, worst_owner; /* 0: none is hidden */
	size_t code_first_line, code_file, code_name, code_lines, code_instructions;
	size_t code_bytes, code_basic_size;
	size_t text_length, text_state, text_ascii, text_compact, text_basic_size;
	unsigned text_kind_shift, tags;
	size_t frame_basic_size;
} PythonFacts;

/* By version; *out_n is their number. */
const PythonFacts *python_facts(size_t *out_n);

typedef struct {
	const PythonFacts *facts;
	ForeignImage all;
	uint32_t next_code;
	LodePythonSymbols symbols;
} PythonImage;

void python_image_init(PythonImage *self, const PythonFacts *facts);
void python_image_clear(PythonImage *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PythonImage, python_image_clear)

/* A str of characters of so many bytes; the offset. */
uint64_t python_image_add_text(
	PythonImage *self, const void *characters, uint64_t n, unsigned width);
uint64_t python_image_add_name(PythonImage *self, const char *name);

void python_image_set_code(PythonImage *self, unsigned number, uint32_t first_line, uint64_t name);

/* Frame 0 is the outermost; the last one that was set is the innermost. Instruction −1: before the
 * first. */
void python_image_set_frame(PythonImage *self, unsigned number, unsigned code, int instruction);
uint64_t python_image_frame(unsigned number);
