/* SPDX-License-Identifier: MIT */
/* Frames of CPython 3.11 in memory that the test builds: right, and hostile. */
#include "process/interpreters/python_frames.h"

#include <string.h>

#define BASE UINT64_C(0x10000000)

enum {
	SIZE = 1 << 21,
	TID = 4711,
	VERSION = 0x030b02f0,
	RUNTIME = 0x1000,
	INTERPRETER = 0x2000,
	THREAD = 0x3000,
	CFRAME = 0x4000,
	FRAMES = 0x8000,
	CODES = 0x20000,
	TYPES = 0x6000, /* their addresses only are asked for */
	FRAME_STEP = 96,
	CODE_STEP = 0x1000,
	ALLOCATED = 0x100000,
};

typedef struct {
	uint8_t *bytes;
	uint64_t free;
	const LodePythonLayout *layout;
	LodePythonFrames *frames;
	LodeScriptLook *look;
	GArray *codes; /* LodeScriptCode, all that were told */
	uint32_t next_code;
	uint64_t now_ns;
} Memory;

static size_t read_memory(void *data, uint64_t address, void *to, size_t size)
{
	const Memory *self = data;
	uint64_t offset = address - BASE;

	if (address < BASE || offset >= SIZE)
		return 0;
	size = MIN(size, SIZE - offset);
	memcpy(to, self->bytes + offset, size);
	return size;
}

static void set(Memory *self, uint64_t offset, uint64_t value, size_t size)
{
	g_assert_cmpuint(offset + size, <=, SIZE);
	memcpy(self->bytes + offset, &value, size);
}

static void set_pointer(Memory *self, uint64_t offset, uint64_t target)
{
	set(self, offset, BASE + target, 8);
}

/* A str of characters of so many bytes; the offset. */
static uint64_t add_text(Memory *self, const void *characters, uint64_t n, unsigned width)
{
	const LodePythonLayout *layout = self->layout;
	uint64_t at = self->free;
	uint64_t data = width == 1 ? layout->ascii_bytes : layout->text_bytes;

	set_pointer(self, at + layout->type, TYPES + 8);
	set(self, at + layout->text_length, n, 8);
	set(self, at + layout->text_state, (width == 1 ? 64u : 0u) | 32u | width << 2, 4);
	memcpy(self->bytes + at + data, characters, n * width);
	self->free += (data + n * width + 15) / 8 * 8;
	return at;
}

static uint64_t add_bytes(Memory *self, const uint8_t *bytes, size_t n)
{
	uint64_t at = self->free;

	set_pointer(self, at + self->layout->type, TYPES + 16);
	set(self, at + self->layout->size, n, 8);
	memcpy(self->bytes + at + self->layout->bytes_data, bytes, n);
	self->free += (self->layout->bytes_data + n + 15) / 8 * 8;
	return at;
}

static uint64_t add_name(Memory *self, const char *name)
{
	return add_text(self, name, strlen(name), 1);
}

/* Code of ten instructions, two on each line from the first on. */
static void set_code(Memory *self, unsigned number, uint32_t first_line, uint64_t name)
{
	static const uint8_t table[] = {0x80 | 10 << 3 | 1, 0, 0, 0x80 | 11 << 3 | 1, 0, 0,
		0x80 | 11 << 3 | 1, 0, 0, 0x80 | 11 << 3 | 1, 0, 0, 0x80 | 11 << 3 | 1, 0, 0};
	const LodePythonLayout *layout = self->layout;
	uint64_t at = CODES + number * CODE_STEP;

	set_pointer(self, at + layout->type, TYPES);
	set(self, at + layout->code_size, 10, 8);
	set(self, at + layout->code_first_line, first_line, 4);
	set_pointer(self, at + layout->code_name, name);
	set_pointer(self, at + layout->code_file, add_name(self, "/home/me/app.py"));
	set_pointer(self, at + layout->code_lines, add_bytes(self, table, sizeof(table)));
}

/* Frame 0 is the outermost. */
static void set_frame(Memory *self, unsigned number, unsigned code, int instruction)
{
	const LodePythonLayout *layout = self->layout;
	uint64_t at = FRAMES + number * FRAME_STEP, code_at = CODES + code * CODE_STEP;

	set_pointer(self, at + layout->frame_code, code_at);
	set_pointer(self, at + layout->frame_instruction,
		code_at + layout->code_bytes + (uint64_t)(int64_t)(2 * instruction));
	if (number > 0)
		set_pointer(self, at + layout->frame_previous, FRAMES + (number - 1) * FRAME_STEP);
	else
		set(self, at + layout->frame_previous, 0, 8);
	set_pointer(self, CFRAME + layout->current_frame, at);
}

static void memory_init(Memory *self)
{
	const LodePythonSymbols symbols = {
		BASE + RUNTIME, BASE + TYPES, BASE + TYPES + 8, BASE + TYPES + 16, VERSION};
	const LodeForeignMemory memory = {read_memory, self};

	*self = (Memory){.bytes = g_malloc0(SIZE),
		.free = ALLOCATED,
		.layout = lode_python_layout_find(VERSION),
		.look = g_new0(LodeScriptLook, 1),
		.codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode)),
		.next_code = 5,
		.now_ns = 1000000000};
	set_pointer(self, RUNTIME + self->layout->interpreters_head, INTERPRETER);
	set_pointer(self, INTERPRETER + self->layout->threads_head, THREAD);
	set(self, THREAD + self->layout->native_thread, TID, 8);
	set_pointer(self, THREAD + self->layout->cframe, CFRAME);
	self->frames = lode_python_frames_new(&symbols, &memory, &self->next_code);
	g_assert_nonnull(self->frames);
}

static void memory_clear(Memory *self)
{
	lode_python_frames_free(self->frames);
	g_array_unref(self->codes);
	g_free(self->look);
	g_free(self->bytes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Memory, memory_clear)

static LodeFramesOutcome look(Memory *self)
{
	self->now_ns += 1000000000;
	return lode_python_frames_read(self->frames, TID, self->now_ns, self->look, self->codes);
}

static const LodeScriptCode *code_at(const Memory *self, guint i)
{
	g_assert_cmpuint(i, <, self->codes->len);
	return &g_array_index(self->codes, LodeScriptCode, i);
}

static void test_frames(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	set_code(&memory, 0, 1, add_name(&memory, "<module>"));
	set_code(&memory, 1, 30, add_name(&memory, "Table.find"));
	set_frame(&memory, 0, 0, 9);
	set_frame(&memory, 1, 1, 2);
	set_frame(&memory, 2, 1, -1); /* before its first instruction */
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->n_frames, ==, 3);
	const LodeScriptFrame expected[] = {{5, 30}, {5, 31}, {6, 5}};
	g_assert_true(memcmp(memory.look->frames, expected, sizeof(expected)) == 0);
	g_assert_cmpuint(memory.codes->len, ==, 2);
	g_assert_cmpstr(code_at(&memory, 0)->function, ==, "Table.find");
	g_assert_cmpstr(code_at(&memory, 0)->file, ==, "/home/me/app.py");
	g_assert_cmpuint(code_at(&memory, 0)->first_line, ==, 30);
	g_assert_cmpuint(code_at(&memory, 0)->last_line, ==, 34);
	/* once */
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.codes->len, ==, 2);
	/* other code where some was */
	set_code(&memory, 1, 60, add_name(&memory, "later"));
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.codes->len, ==, 3);
	g_assert_cmpstr(code_at(&memory, 2)->function, ==, "later");
	g_assert_cmpuint(memory.look->frames[1].line, ==, 61);
}

static void test_threads(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE); /* no frame */
	set_code(&memory, 0, 1, add_name(&memory, "f"));
	set_frame(&memory, 0, 0, 0);
	g_assert_cmpint(lode_python_frames_read(memory.frames, TID + 1, memory.now_ns + 1,
				memory.look, memory.codes),
		==, LODE_FRAMES_NONE);
	/* a list without an end */
	set_pointer(&memory, THREAD + memory.layout->next_thread, THREAD);
	set_pointer(&memory, INTERPRETER + memory.layout->next_interpreter, INTERPRETER);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	set(&memory, THREAD + memory.layout->native_thread, TID + 1, 8);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE);
}

/* Wide characters, half of a surrogate pair, a NUL, a name of a million characters. */
static void test_names(void)
{
	static const uint16_t wide[] = {0x4e2d, 'x', 0xd800};
	static const uint32_t wider[] = {0x1f40d, 0x110000, 0};
	g_autofree char *long_name = g_strnfill(900000, 'n');
	g_auto(Memory) memory;

	memory_init(&memory);
	set_code(&memory, 0, 1, add_text(&memory, wide, 3, 2));
	set_code(&memory, 1, 1, add_text(&memory, wider, 3, 4));
	set_code(&memory, 2, 1, add_name(&memory, long_name));
	for (unsigned i = 0; i < 3; i++)
		set_frame(&memory, i, i, 0);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpstr(code_at(&memory, 2)->function, ==, "中x\xef\xbf\xbd");
	g_assert_cmpstr(code_at(&memory, 1)->function, ==, "🐍\xef\xbf\xbd\xef\xbf\xbd");
	g_assert_cmpuint(strlen(code_at(&memory, 0)->function), ==, 1024);
}

static void expect_torn(Memory *self, uint64_t offset, uint64_t value, size_t size)
{
	uint8_t before[8];

	memcpy(before, self->bytes + offset, size);
	set(self, offset, value, size);
	g_assert_cmpint(look(self), ==, LODE_FRAMES_TORN);
	g_assert_cmpuint(self->look->n_frames, ==, 0);
	memcpy(self->bytes + offset, before, size);
	g_assert_cmpint(look(self), ==, LODE_FRAMES_FOUND);
}

static void test_torn(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	const LodePythonLayout *layout = memory.layout;
	set_code(&memory, 0, 1, add_name(&memory, "f"));
	set_frame(&memory, 0, 0, 1);
	set_frame(&memory, 1, 0, 2);
	uint64_t frame = FRAMES + FRAME_STEP, code = CODES;
	expect_torn(&memory, CFRAME + layout->current_frame, 0x77, 8);
	expect_torn(&memory, CFRAME + layout->current_frame, UINT64_MAX - 4, 8);
	expect_torn(&memory, frame + layout->frame_previous, BASE + SIZE - 8, 8);
	expect_torn(&memory, frame + layout->frame_code, 0, 8);
	expect_torn(&memory, frame + layout->frame_code, BASE + FRAMES, 8);
	expect_torn(&memory, frame + layout->frame_owner, 200, 1);
	expect_torn(&memory, frame + layout->frame_instruction, BASE + CODES, 8);
	expect_torn(&memory, frame + layout->frame_instruction,
		BASE + CODES + layout->code_bytes + 3, 8);
	expect_torn(&memory, code + layout->type, BASE + TYPES + 8, 8);
	expect_torn(&memory, code + layout->code_size, UINT64_C(1) << 40, 8);
	expect_torn(&memory, code + layout->code_name, BASE + 3, 8);
}

/* Frames that lead to themselves. */
static void test_loop(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	set_code(&memory, 0, 1, add_name(&memory, "f"));
	set_frame(&memory, 0, 0, 1);
	set_pointer(&memory, FRAMES + memory.layout->frame_previous, FRAMES);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->n_frames, ==, LODE_SCRIPT_MAX_FRAMES);
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_IS_CUT);
}

/* More than are read at once, in the order of the stack. */
static void test_deep(void)
{
	enum { DEPTH = 120 };
	g_auto(Memory) memory;

	memory_init(&memory);
	set_code(&memory, 0, 1, add_name(&memory, "f"));
	set_code(&memory, 1, 100, add_name(&memory, "g"));
	for (unsigned i = 0; i < DEPTH; i++)
		set_frame(&memory, i, i % 2, (int)(i % 10));
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->n_frames, ==, DEPTH);
	for (unsigned i = 0; i < DEPTH; i++) {
		unsigned number = DEPTH - 1 - i;
		g_assert_cmpuint(memory.look->frames[i].line, ==,
			(number % 2 == 0 ? 1 : 100) + number % 10 / 2);
	}
}

static void test_random(void)
{
	static const uint32_t seeds[] = {1, 2, 3};

	for (size_t s = 0; s < G_N_ELEMENTS(seeds); s++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seeds[s]);
		g_auto(Memory) memory;
		memory_init(&memory);
		set_code(&memory, 0, 1, add_name(&memory, "f"));
		set_code(&memory, 1, 9, add_name(&memory, "g"));
		for (unsigned i = 0; i < 5; i++)
			set_frame(&memory, i, i % 2, 3);
		const uint64_t places[] = {THREAD, CFRAME, FRAMES, FRAMES + FRAME_STEP, CODES,
			CODES + CODE_STEP, ALLOCATED};
		for (unsigned i = 0; i < 3000; i++) {
			uint64_t at = places[g_rand_int_range(random, 0, G_N_ELEMENTS(places))] +
			              (uint64_t)g_rand_int_range(random, 0, 200);
			uint8_t before = memory.bytes[at];
			memory.bytes[at] = (uint8_t)g_rand_int(random);
			look(&memory);
			g_assert_cmpuint(memory.look->n_frames, <=, LODE_SCRIPT_MAX_FRAMES);
			for (uint32_t k = 0; k < memory.look->n_frames; k++)
				g_assert_cmpuint(
					memory.look->frames[k].line - 1, <, LODE_SCRIPT_MAX_LINE);
			if (i % 4 != 0)
				memory.bytes[at] = before;
		}
	}
}

/* The table that CPython 3.11.2 made of a function of fourteen lines, and what its co_lines() says:
 * loops, an exception, a call over several lines. */
static void test_lines(void)
{
	static const char hex[] = "8000d80c0d8045d81015f0000a0517f0000a05178804d80b0f9035883d883dd8"
				  "0c119553981491599459"
				  "d10c1e8845f004060917d80c119553f00003190ef00003190ee0191df0050319"
				  "0ef10003190ef4000319"
				  "0ef10003160ef40003160ef100030d0e88458845f8f50800101af000010917f0"
				  "00010917f000010917d8"
				  "0c119051894a884588458845f003010917f8f8f8e00b10804c";
	static const LodePythonLine expected[] = {{0, 1}, {2, 2}, {6, 3}, {14, 4}, {22, 5}, {58, 7},
		{60, 8}, {78, 10}, {80, 8}, {120, 12}, {138, 13}, {152, 12}, {160, 14}};
	g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(LodePythonLine));
	uint8_t table[(sizeof(hex) - 1) / 2];

	for (size_t i = 0; i < sizeof(table); i++)
		table[i] = (uint8_t)(g_ascii_xdigit_value(hex[2 * i]) << 4 |
				     g_ascii_xdigit_value(hex[2 * i + 1]));
	lode_python_lines_read(table, sizeof(table), 1, 164, lines);
	g_assert_cmpuint(lines->len, ==, G_N_ELEMENTS(expected));
	g_assert_true(memcmp(lines->data, expected, sizeof(expected)) == 0);
	g_assert_cmpuint(lode_python_lines_find(lines, 21, 1), ==, 4);
	g_assert_cmpuint(lode_python_lines_find(lines, 162, 1), ==, 14);
	/* cut short, and in other code */
	for (size_t i = 0; i < sizeof(table); i++) {
		g_autofree uint8_t *part = g_memdup2(table, i);
		g_array_set_size(lines, 0);
		lode_python_lines_read(part, i, LODE_SCRIPT_MAX_LINE - 3, 164, lines);
		for (guint k = 0; k < lines->len; k++)
			g_assert_cmpuint(g_array_index(lines, LodePythonLine, k).line, <=,
				LODE_SCRIPT_MAX_LINE);
	}
}

static void test_versions(void)
{
	const LodePythonSymbols symbols = {.version_hex = 0x030c00f0};
	const LodeForeignMemory memory = {read_memory, NULL};
	uint32_t next = 0;

	g_assert_null(lode_python_frames_new(&symbols, &memory, &next));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/process/python-frames/frames", test_frames);
	g_test_add_func("/process/python-frames/threads", test_threads);
	g_test_add_func("/process/python-frames/names", test_names);
	g_test_add_func("/process/python-frames/torn", test_torn);
	g_test_add_func("/process/python-frames/loop", test_loop);
	g_test_add_func("/process/python-frames/deep", test_deep);
	g_test_add_func("/process/python-frames/random", test_random);
	g_test_add_func("/process/python-frames/lines", test_lines);
	g_test_add_func("/process/python-frames/versions", test_versions);
	return g_test_run();
}
