/* SPDX-License-Identifier: MIT */
#include "process/interpreters/python_frames.h"

#include <stddef.h>
#include <string.h>

/* Most of an offset: of members of an object or a thread, and of the large structures. */
enum { MAX_MEMBER = 500, MAX_LARGE = 1 << 24 };

/* 3.8 and 3.9 have the same. */
static const LodePythonLayout objects_3_9 = {
	.version = 0x0309,
	.position = LODE_PYTHON_LAST_BYTE,
	.table = LODE_PYTHON_LNOTAB,
	.interpreters_head = 32,
	.next_interpreter = 0,
	.threads_head = 8,
	.next_thread = 8,
	.interpreter = 16,
	.posix_thread = 176,
	.top = 24,
	.frame_previous = 24,
	.frame_code = 32,
	.frame_instruction = 104,
	.frame_bytes = 112,
	.code_first_line = 40,
	.code_instructions = 48,
	.code_file = 104,
	.code_name = 112,
	.code_lines = 120,
	.code_bytes = 128,
	.type = 8,
	.size = 16,
	.text_length = 16,
	.text_state = 32,
	.ascii_bytes = 48,
	.text_bytes = 72,
	.bytes_data = 32,
	.basic_size = 32,
	.size_of_code = 176,
	.size_of_frame = 368,
	.size_of_text = 80,
};

static const LodePythonLayout objects_3_10 = {
	.version = 0x030a,
	.position = LODE_PYTHON_LAST_UNIT,
	.table = LODE_PYTHON_RANGES,
	.interpreters_head = 32,
	.next_interpreter = 0,
	.threads_head = 8,
	.next_thread = 8,
	.interpreter = 16,
	.posix_thread = 176,
	.top = 24,
	.frame_previous = 24,
	.frame_code = 32,
	.frame_instruction = 96,
	.frame_bytes = 104,
	.code_first_line = 40,
	.code_instructions = 48,
	.code_file = 104,
	.code_name = 112,
	.code_lines = 120,
	.code_bytes = 128,
	.type = 8,
	.size = 16,
	.text_length = 16,
	.text_state = 32,
	.ascii_bytes = 48,
	.text_bytes = 72,
	.bytes_data = 32,
	.basic_size = 32,
	.size_of_code = 176,
	.size_of_frame = 360,
	.size_of_text = 80,
};

static const LodePythonLayout frames_3_11 = {
	.version = 0x030b,
	.position = LODE_PYTHON_POINTER_BEFORE,
	.table = LODE_PYTHON_LOCATIONS,
	.interpreters_head = 40,
	.next_interpreter = 0,
	.threads_head = 16,
	.next_thread = 8,
	.interpreter = 16,
	.posix_thread = 152,
	.native_thread = 160,
	.top = 56,
	.has_cframe = true,
	.current_frame = 8,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instruction = 56,
	.frame_owner = 69,
	.frame_bytes = 72,
	.first_hidden_owner = 3,
	.last_owner = 2,
	.code_first_line = 72,
	.code_file = 112,
	.code_name = 128,
	.code_lines = 136,
	.code_bytes = 184,
	.type = 8,
	.size = 16,
	.text_length = 16,
	.text_state = 32,
	.ascii_bytes = 48,
	.text_bytes = 72,
	.bytes_data = 32,
	.basic_size = 32,
	.size_of_code = 184,
	.size_of_frame = 120,
	.size_of_text = 80,
};

static const LodePythonLayout frames_3_12 = {
	.version = 0x030c,
	.position = LODE_PYTHON_POINTER_BEFORE,
	.table = LODE_PYTHON_LOCATIONS,
	.interpreters_head = 40,
	.next_interpreter = 0,
	.threads_head = 72,
	.next_thread = 8,
	.interpreter = 16,
	.posix_thread = 136,
	.native_thread = 144,
	.top = 56,
	.has_cframe = true,
	.current_frame = 0,
	.frame_code = 0,
	.frame_previous = 8,
	.frame_instruction = 56,
	.frame_owner = 70,
	.frame_bytes = 72,
	.first_hidden_owner = 3,
	.last_owner = 3,
	.code_first_line = 68,
	.code_file = 112,
	.code_name = 128,
	.code_lines = 136,
	.code_bytes = 192,
	.type = 8,
	.size = 16,
	.text_length = 16,
	.text_state = 32,
	.ascii_bytes = 40,
	.text_bytes = 56,
	.bytes_data = 32,
	.basic_size = 32,
	.size_of_code = 192,
	.size_of_frame = 120,
	.size_of_text = 64,
};

/* --- _Py_DebugOffsets, with which _PyRuntime begins from 3.13 on --- */

static const char cookie[] = "xdebugpy";

/* Words of it: a cookie, the version, whether there is no global lock, and offsets. 3.14 has more
 * of interpreters, frames, code, and sets. */
enum { VERSION_WORD = 1, FREE_THREADED_WORD = 2, MAX_WORDS = 96 };

static const struct {
	size_t member; /* of LodePythonLayout */
	uint8_t word_3_13, word_3_14;
} described[] = {
	{offsetof(LodePythonLayout, interpreters_head), 5, 5},
	{offsetof(LodePythonLayout, next_interpreter), 8, 8},
	{offsetof(LodePythonLayout, threads_head), 9, 9},
	{offsetof(LodePythonLayout, next_thread), 21, 24},
	{offsetof(LodePythonLayout, interpreter), 22, 25},
	{offsetof(LodePythonLayout, top), 23, 26},
	{offsetof(LodePythonLayout, posix_thread), 24, 27},
	{offsetof(LodePythonLayout, native_thread), 25, 28},
	{offsetof(LodePythonLayout, frame_previous), 29, 32},
	{offsetof(LodePythonLayout, frame_code), 30, 33},
	{offsetof(LodePythonLayout, frame_instruction), 31, 34},
	{offsetof(LodePythonLayout, frame_bytes), 32, 35},
	{offsetof(LodePythonLayout, frame_owner), 33, 36},
	{offsetof(LodePythonLayout, code_file), 35, 40},
	{offsetof(LodePythonLayout, code_name), 37, 42},
	{offsetof(LodePythonLayout, code_lines), 38, 43},
	{offsetof(LodePythonLayout, code_first_line), 39, 44},
	{offsetof(LodePythonLayout, code_bytes), 43, 48},
	{offsetof(LodePythonLayout, type), 45, 51},
	{offsetof(LodePythonLayout, size), 65, 75},
	{offsetof(LodePythonLayout, bytes_data), 66, 76},
	{offsetof(LodePythonLayout, size_of_text), 67, 77},
	{offsetof(LodePythonLayout, text_state), 68, 78},
	{offsetof(LodePythonLayout, text_length), 69, 79},
	{offsetof(LodePythonLayout, ascii_bytes), 70, 80},
};

/* tp_name, which is before tp_basicsize. */
enum { NAME_OF_TYPE_3_13 = 47, NAME_OF_TYPE_3_14 = 53 };

static bool is_large(size_t member)
{
	return member == offsetof(LodePythonLayout, interpreters_head) ||
	       member == offsetof(LodePythonLayout, next_interpreter) ||
	       member == offsetof(LodePythonLayout, threads_head);
}

/* Whether the members of what is read as a whole lie in it. */
static bool is_inside(const LodePythonLayout *self)
{
	const uint32_t of_frame = self->frame_bytes, of_code = self->code_bytes;
	const uint32_t of_text = self->ascii_bytes, word = sizeof(uint64_t);

	return self->frame_code + word <= of_frame && self->frame_previous + word <= of_frame &&
	       self->frame_instruction + word <= of_frame && self->frame_owner < of_frame &&
	       self->code_file + word <= of_code && self->code_name + word <= of_code &&
	       self->code_lines + word <= of_code && self->code_first_line + word <= of_code &&
	       self->type + word <= of_code && self->size + word <= of_code &&
	       self->type + word <= of_text && self->text_length + word <= of_text &&
	       self->text_state + word / 2 <= of_text && self->type + word <= self->bytes_data &&
	       self->size + word <= self->bytes_data;
}

/* A free-threaded build of 3.14 has a copy of the code for each thread, which is not read here. */
static bool read_described(
	const LodePythonSymbols *symbols, const LodeForeignMemory *memory, LodePythonLayout *out)
{
	uint64_t words[MAX_WORDS];
	bool is_3_14 = symbols->version_hex >> 16 == 0x030e;

	if (memory->read(memory->data, symbols->runtime, words, sizeof(words)) != sizeof(words) ||
		memcmp(words, cookie, sizeof(words[0])) != 0 ||
		words[VERSION_WORD] != symbols->version_hex ||
		(is_3_14 && words[FREE_THREADED_WORD] != 0))
		return false;
	*out = (LodePythonLayout){
		.version = symbols->version_hex >> 16,
		.position = LODE_PYTHON_POINTER,
		.table = LODE_PYTHON_LOCATIONS,
		.first_hidden_owner = 3,
		.last_owner = is_3_14 ? 4 : 3,
		.tags = is_3_14 ? 3 : 0,
	};
	for (size_t i = 0; i < G_N_ELEMENTS(described); i++) {
		uint64_t offset = words[is_3_14 ? described[i].word_3_14 : described[i].word_3_13];
		uint32_t *member = (void *)((char *)out + described[i].member);
		if (offset > (is_large(described[i].member) ? MAX_LARGE : MAX_MEMBER))
			return false;
		*member = (uint32_t)offset;
	}
	/* a PyCompactUnicodeObject has a length and a pointer more */
	out->text_bytes = out->ascii_bytes + 2 * sizeof(uint64_t);
	out->size_of_code = out->code_bytes;
	uint64_t name = words[is_3_14 ? NAME_OF_TYPE_3_14 : NAME_OF_TYPE_3_13];
	out->basic_size = (uint32_t)MIN(name, MAX_MEMBER) + sizeof(uint64_t);
	return is_inside(out);
}

/* --- whether it is the process' --- */

static uint64_t size_by(
	const LodePythonLayout *self, const LodeForeignMemory *memory, uint64_t type)
{
	uint64_t size = 0;

	memory->read(memory->data, type + self->basic_size, &size, sizeof(size));
	return size;
}

static bool fits(const LodePythonLayout *self, const LodePythonSymbols *symbols,
	const LodeForeignMemory *memory)
{
	return size_by(self, memory, symbols->code_type) == self->size_of_code &&
	       size_by(self, memory, symbols->text_type) == self->size_of_text &&
	       (self->size_of_frame == 0 ||
		       size_by(self, memory, symbols->frame_type) == self->size_of_frame);
}

bool lode_python_layout_find(
	const LodePythonSymbols *symbols, const LodeForeignMemory *memory, LodePythonLayout *out)
{
	static const LodePythonLayout *const known[] = {
		&objects_3_9, &objects_3_10, &frames_3_11, &frames_3_12};
	uint32_t version = symbols->version_hex >> 16;

	if (version == 0x030d || version == 0x030e)
		return read_described(symbols, memory, out) && fits(out, symbols, memory);
	/* Before 3.11, only the sizes tell one from another. */
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
		bool is_old = known[i]->version < 0x030b;
		if ((version != 0 ? version == known[i]->version : is_old) &&
			fits(known[i], symbols, memory)) {
			*out = *known[i];
			return true;
		}
	}
	return false;
}
