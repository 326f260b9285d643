/* SPDX-License-Identifier: MIT */
#include "python_image.h"

#include "python_structs.h"

#include <string.h>

#define OBJECTS(VERSION, HEX, TABLE, POSITION, FRAME)                                              \
	{                                                                                          \
		.name = VERSION, .version_hex = HEX, .table = TABLE, .position = POSITION,         \
		.interpreters_head = offsetof(Runtime_3_8, interpreters_head),                     \
		.next_interpreter = offsetof(Interpreter_3_8, next),                               \
		.threads_head = offsetof(Interpreter_3_8, tstate_head),                            \
		.thread_next = offsetof(Thread_3_8, next),                                         \
		.thread_interpreter = offsetof(Thread_3_8, interp),                                \
		.thread_posix = offsetof(Thread_3_8, thread_id),                                   \
		.thread_top = offsetof(Thread_3_8, frame), .frame_code = offsetof(FRAME, f_code),  \
		.frame_previous = offsetof(FRAME, f_back),                                         \
		.frame_instruction = offsetof(FRAME, f_lasti),                                     \
		.frame_bytes = offsetof(FRAME, f_iblock), .frame_basic_size = sizeof(FRAME),       \
		.code_first_line = offsetof(Code_3_8, co_firstlineno),                             \
		.code_file = offsetof(Code_3_8, co_filename),                                      \
		.code_name = offsetof(Code_3_8, co_name),                                          \
		.code_lines = offsetof(Code_3_8, co_linetable),                                    \
		.code_instructions = offsetof(Code_3_8, co_code),                                  \
		.code_basic_size = sizeof(Code_3_8), TEXT(3_8)                                     \
	}

#define FRAMES(VERSION, HEX, POSITION, RUNTIME, INTERPRETER, THREAD, TOP, FRAME, CODE,             \
	INSTRUCTION, EXECUTABLE)                                                                   \
	.name = VERSION, .version_hex = HEX, .table = LODE_PYTHON_LOCATIONS, .position = POSITION, \
	.interpreters_head = offsetof(RUNTIME, interpreters_head),                                 \
	.next_interpreter = offsetof(INTERPRETER, next),                                           \
	.threads_head = offsetof(INTERPRETER, threads_head),                                       \
	.thread_next = offsetof(THREAD, next), .thread_interpreter = offsetof(THREAD, interp),     \
	.thread_posix = offsetof(THREAD, thread_id),                                               \
	.thread_native = offsetof(THREAD, native_thread_id), .thread_top = offsetof(THREAD, TOP),  \
	.frame_code = offsetof(FRAME, EXECUTABLE), .frame_previous = offsetof(FRAME, previous),    \
	.frame_instruction = offsetof(FRAME, INSTRUCTION), .frame_owner = offsetof(FRAME, owner),  \
	.frame_bytes = offsetof(FRAME, localsplus), .frame_basic_size = 120,                       \
	.code_first_line = offsetof(CODE, co_firstlineno),                                         \
	.code_file = offsetof(CODE, co_filename), .code_name = offsetof(CODE, co_qualname),        \
	.code_lines = offsetof(CODE, co_linetable),                                                \
	.code_bytes = offsetof(CODE, co_code_adaptive),                                            \
	.code_basic_size = offsetof(CODE, co_code_adaptive)

#define TEXT(VERSION)                                                                              \
	.text_length = offsetof(Ascii_##VERSION, length),                                          \
	.text_state = offsetof(Ascii_##VERSION, state), .text_ascii = sizeof(Ascii_##VERSION),     \
	.text_compact = sizeof(Compact_##VERSION), .text_basic_size = sizeof(Text_##VERSION),      \
	.text_kind_shift = 2

static const PythonFacts all[] = {
	OBJECTS("3.8", 0, LODE_PYTHON_LNOTAB, LODE_PYTHON_LAST_BYTE, Frame_3_8),
	OBJECTS("3.10", 0, LODE_PYTHON_RANGES, LODE_PYTHON_LAST_UNIT, Frame_3_10),
	{FRAMES("3.11", 0x030b02f0, LODE_PYTHON_POINTER_BEFORE, Runtime_3_11, Interpreter_3_11,
		 Thread_3_11, cframe, Frame_3_11, Code_3_11, prev_instr, f_code),
		.has_cframe = true, .cframe_frame = offsetof(CFrame_3_11, current_frame),
		.worst_owner = 3, TEXT(3_8)},
	{FRAMES("3.12", 0x030c01f0, LODE_PYTHON_POINTER_BEFORE, Runtime_3_11, Interpreter_3_12,
		 Thread_3_12, cframe, Frame_3_12, Code_3_12, prev_instr, f_code),
		.has_cframe = true, .cframe_frame = offsetof(CFrame_3_12, current_frame),
		.hidden_owner = 3, .worst_owner = 4, TEXT(3_12)},
	{FRAMES("3.13", 0x030d00f0, LODE_PYTHON_POINTER, Runtime_3_13, Interpreter_3_13,
		 Thread_3_13, current_frame, Frame_3_12, Code_3_13, prev_instr, f_code),
		.hidden_owner = 3, .worst_owner = 4, TEXT(3_12)},
	{FRAMES("3.14", 0x030e00f0, LODE_PYTHON_POINTER, Runtime_3_14, Interpreter_3_13,
		 Thread_3_13, current_frame, Frame_3_14, Code_3_13, instr_ptr, f_executable),
		.hidden_owner = 4, .worst_owner = 5, .tags = 1, TEXT(3_12)},
};

const PythonFacts *python_facts(size_t *out_n)
{
	*out_n = G_N_ELEMENTS(all);
	return all;
}

static void set_type(PythonImage *self, uint64_t object, unsigned type)
{
	foreign_image_set_pointer(&self->all, object + offsetof(Object, ob_type),
		PYTHON_IMAGE_TYPES + type * PYTHON_IMAGE_TYPE_STEP);
}

enum { CODE_TYPE, TEXT_TYPE, BYTES_TYPE, FRAME_TYPE, N_TYPES };

#define DESCRIBE(VERSION, FRAME, EXECUTABLE, INSTRUCTION)                                          \
	static void describe_##VERSION(PythonImage *self)                                          \
	{                                                                                          \
		const PythonFacts *facts = self->facts;                                            \
		DebugOffsets_##VERSION offsets = {                                                 \
			.version = facts->version_hex,                                             \
			.runtime_state.interpreters_head = facts->interpreters_head,               \
			.interpreter_state = {.next = facts->next_interpreter,                     \
				.threads_head = facts->threads_head},                              \
			.thread_state = {.next = facts->thread_next,                               \
				.interp = facts->thread_interpreter,                               \
				.current_frame = facts->thread_top,                                \
				.thread_id = facts->thread_posix,                                  \
				.native_thread_id = facts->thread_native},                         \
			.interpreter_frame = {.previous = facts->frame_previous,                   \
				.executable = offsetof(FRAME, EXECUTABLE),                         \
				.instr_ptr = offsetof(FRAME, INSTRUCTION),                         \
				.localsplus = facts->frame_bytes,                                  \
				.owner = facts->frame_owner},                                      \
			.code_object = {.filename = facts->code_file,                              \
				.name = offsetof(Code_3_13, co_name),                              \
				.qualname = facts->code_name,                                      \
				.linetable = facts->code_lines,                                    \
				.firstlineno = facts->code_first_line,                             \
				.co_code_adaptive = facts->code_bytes},                            \
			.pyobject.ob_type = offsetof(Object, ob_type),                             \
			.type_object.tp_name = offsetof(Type, tp_name),                            \
			.bytes_object = {.ob_size = offsetof(VarObject, ob_size),                  \
				.ob_sval = offsetof(Bytes, ob_sval)},                              \
			.unicode_object = {.size = facts->text_basic_size,                         \
				.state = facts->text_state,                                        \
				.length = facts->text_length,                                      \
				.asciiobject_size = facts->text_ascii},                            \
		};                                                                                 \
		memcpy(offsets.cookie, "xdebugpy", sizeof(offsets.cookie));                        \
		memcpy(self->all.bytes + PYTHON_IMAGE_RUNTIME, &offsets, sizeof(offsets));         \
	}

DESCRIBE(3_13, Frame_3_12, f_code, prev_instr)
DESCRIBE(3_14, Frame_3_14, f_executable, instr_ptr)

void python_image_init(PythonImage *self, const PythonFacts *facts)
{
	const size_t sizes[N_TYPES] = {facts->code_basic_size, facts->text_basic_size,
		offsetof(Bytes, ob_sval) + 1, facts->frame_basic_size};
	const uint64_t types = FOREIGN_IMAGE_BASE + PYTHON_IMAGE_TYPES;

	*self = (PythonImage){.facts = facts,
		.next_code = 5,
		.symbols = {.runtime = FOREIGN_IMAGE_BASE + PYTHON_IMAGE_RUNTIME,
			.code_type = types,
			.text_type = types + TEXT_TYPE * PYTHON_IMAGE_TYPE_STEP,
			.bytes_type = types + BYTES_TYPE * PYTHON_IMAGE_TYPE_STEP,
			.frame_type = types + FRAME_TYPE * PYTHON_IMAGE_TYPE_STEP,
			.version_hex = facts->version_hex}};
	foreign_image_init(&self->all, PYTHON_IMAGE_BYTES, PYTHON_IMAGE_ALLOCATED);
	for (unsigned i = 0; i < N_TYPES; i++)
		foreign_image_set(&self->all,
			PYTHON_IMAGE_TYPES + i * PYTHON_IMAGE_TYPE_STEP +
				offsetof(Type, tp_basicsize),
			sizes[i], 8);
	if (facts->version_hex >> 16 == 0x030d)
		describe_3_13(self);
	if (facts->version_hex >> 16 == 0x030e)
		describe_3_14(self);
	foreign_image_set_pointer(&self->all, PYTHON_IMAGE_RUNTIME + facts->interpreters_head,
		PYTHON_IMAGE_INTERPRETER);
	foreign_image_set_pointer(
		&self->all, PYTHON_IMAGE_INTERPRETER + facts->threads_head, PYTHON_IMAGE_THREAD);
	foreign_image_set_pointer(&self->all, PYTHON_IMAGE_THREAD + facts->thread_interpreter,
		PYTHON_IMAGE_INTERPRETER);
	foreign_image_set_pointer(
		&self->all, PYTHON_IMAGE_THREAD + facts->thread_posix, PYTHON_IMAGE_POSIX_THREAD);
	foreign_image_set(&self->all, PYTHON_IMAGE_POSIX_THREAD + offsetof(PosixThread, tid),
		PYTHON_IMAGE_TID, 4);
	if (facts->thread_native != 0)
		foreign_image_set(&self->all, PYTHON_IMAGE_THREAD + facts->thread_native,
			PYTHON_IMAGE_TID, 8);
	if (facts->has_cframe)
		foreign_image_set_pointer(
			&self->all, PYTHON_IMAGE_THREAD + facts->thread_top, PYTHON_IMAGE_CFRAME);
}

void python_image_clear(PythonImage *self)
{
	foreign_image_clear(&self->all);
}

uint64_t python_image_add_text(
	PythonImage *self, const void *characters, uint64_t n, unsigned width)
{
	const PythonFacts *facts = self->facts;
	uint64_t at = self->all.free;
	uint64_t data = width == 1 ? facts->text_ascii : facts->text_compact;
	uint64_t flags = (uint64_t)((width == 1 ? 16u : 0u) | 8u | width);

	set_type(self, at, TEXT_TYPE);
	foreign_image_set(&self->all, at + facts->text_length, n, 8);
	foreign_image_set(&self->all, at + facts->text_state, flags << facts->text_kind_shift, 4);
	memcpy(self->all.bytes + at + data, characters, n * width);
	self->all.free += (data + n * width + 15) / 8 * 8;
	return at;
}

uint64_t python_image_add_name(PythonImage *self, const char *name)
{
	return python_image_add_text(self, name, strlen(name), 1);
}

static uint64_t add_bytes(PythonImage *self, const void *bytes, size_t n)
{
	uint64_t at = self->all.free;

	set_type(self, at, BYTES_TYPE);
	foreign_image_set(&self->all, at + offsetof(VarObject, ob_size), n, 8);
	memcpy(self->all.bytes + at + offsetof(Bytes, ob_sval), bytes, n);
	self->all.free += (offsetof(Bytes, ob_sval) + n + 15) / 8 * 8;
	return at;
}

/* Two instructions a line, each of two bytes. */
static uint64_t add_lines(PythonImage *self)
{
	static const uint8_t lnotab[] = {4, 1, 4, 1, 4, 1, 4, 1},
			     ranges[] = {4, 0, 4, 1, 4, 1, 4, 1, 4, 1},
			     locations[] = {0x80 | 10 << 3 | 1, 0, 0, 0x80 | 11 << 3 | 1, 0, 0,
				     0x80 | 11 << 3 | 1, 0, 0, 0x80 | 11 << 3 | 1, 0, 0,
				     0x80 | 11 << 3 | 1, 0, 0};

	switch (self->facts->table) {
	case LODE_PYTHON_LNOTAB:
		return add_bytes(self, lnotab, sizeof(lnotab));
	case LODE_PYTHON_RANGES:
		return add_bytes(self, ranges, sizeof(ranges));
	default:
		return add_bytes(self, locations, sizeof(locations));
	}
}

void python_image_set_code(PythonImage *self, unsigned number, uint32_t first_line, uint64_t name)
{
	static const uint8_t instructions[20];
	const PythonFacts *facts = self->facts;
	uint64_t at = PYTHON_IMAGE_CODES + number * PYTHON_IMAGE_CODE_STEP;

	set_type(self, at, CODE_TYPE);
	if (facts->code_instructions != 0)
		foreign_image_set_pointer(&self->all, at + facts->code_instructions,
			add_bytes(self, instructions, sizeof(instructions)));
	else
		foreign_image_set(&self->all, at + offsetof(VarObject, ob_size), 10, 8);
	foreign_image_set(&self->all, at + facts->code_first_line, first_line, 4);
	foreign_image_set_pointer(&self->all, at + facts->code_name, name);
	foreign_image_set_pointer(
		&self->all, at + facts->code_file, python_image_add_name(self, "/home/me/app.py"));
	foreign_image_set_pointer(&self->all, at + facts->code_lines, add_lines(self));
}

uint64_t python_image_frame(unsigned number)
{
	return PYTHON_IMAGE_FRAMES + number * PYTHON_IMAGE_FRAME_STEP;
}

static void set_instruction(PythonImage *self, uint64_t at, uint64_t code, int instruction)
{
	const PythonFacts *facts = self->facts;
	int scale = facts->position == LODE_PYTHON_LAST_BYTE && instruction > 0 ? 2 : 1;

	if (facts->code_instructions != 0)
		foreign_image_set(&self->all, at, (uint32_t)(instruction * scale), 4);
	else
		/* a pointer to the instruction itself is never before the first one */
		foreign_image_set_pointer(&self->all, at,
			code + facts->code_bytes +
				(uint64_t)(int64_t)(2 * (facts->position == LODE_PYTHON_POINTER
									? MAX(instruction, 0)
									: instruction)));
}

void python_image_set_frame(PythonImage *self, unsigned number, unsigned code, int instruction)
{
	const PythonFacts *facts = self->facts;
	uint64_t at = python_image_frame(number);
	uint64_t code_at = PYTHON_IMAGE_CODES + code * PYTHON_IMAGE_CODE_STEP;
	uint64_t top = facts->has_cframe ? PYTHON_IMAGE_CFRAME + facts->cframe_frame
	                                 : PYTHON_IMAGE_THREAD + facts->thread_top;

	foreign_image_set_pointer(&self->all, at + facts->frame_code, code_at + facts->tags);
	set_instruction(self, at + facts->frame_instruction, code_at, instruction);
	if (number > 0)
		foreign_image_set_pointer(
			&self->all, at + facts->frame_previous, python_image_frame(number - 1));
	else
		foreign_image_set(&self->all, at + facts->frame_previous, 0, 8);
	foreign_image_set_pointer(&self->all, top, at);
}
