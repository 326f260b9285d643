/* SPDX-License-Identifier: MIT */
/* Frames of CPython's versions in memory that the test builds: right, and hostile. */
#include "process/interpreters/python_frames.h"

#include "python_image.h"
#include "seeds.h"

#include <string.h>

enum { TID = PYTHON_IMAGE_TID, TYPE = 8 /* of an object */, BASIC_SIZE = 32 /* of a type */ };

typedef struct {
	PythonImage image;
	LodePythonFrames *frames;
	LodeScriptLook *look;
	GArray *codes; /* LodeScriptCode, all that were told */
	uint64_t now_ns;
} Memory;

static void memory_init(Memory *self, const void *facts)
{
	python_image_init(&self->image, facts);
	self->look = g_new0(LodeScriptLook, 1);
	self->codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode));
	self->now_ns = 1000000000;
	self->frames = lode_python_frames_new(
		&self->image.symbols, &self->image.all.memory, &self->image.next_code);
	g_assert_nonnull(self->frames);
}

static void memory_clear(Memory *self)
{
	lode_python_frames_free(self->frames);
	g_array_unref(self->codes);
	g_free(self->look);
	python_image_clear(&self->image);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Memory, memory_clear)

static uint64_t add_name(Memory *self, const char *name)
{
	return python_image_add_name(&self->image, name);
}

static void set_code(Memory *self, unsigned number, uint32_t first_line, const char *name)
{
	python_image_set_code(&self->image, number, first_line, add_name(self, name));
}

static void set_frame(Memory *self, unsigned number, unsigned code, int instruction)
{
	python_image_set_frame(&self->image, number, code, instruction);
}

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

static void test_frames(const void *facts)
{
	g_auto(Memory) memory;

	memory_init(&memory, facts);
	set_code(&memory, 0, 1, "<module>");
	set_code(&memory, 1, 30, "Table.find");
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
	set_code(&memory, 1, 60, "later");
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.codes->len, ==, 3);
	g_assert_cmpstr(code_at(&memory, 2)->function, ==, "later");
	g_assert_cmpuint(memory.look->frames[1].line, ==, 61);
}

/* Each instruction has the line of its pair. */
static void test_instructions(const void *facts)
{
	g_auto(Memory) memory;

	memory_init(&memory, facts);
	set_code(&memory, 0, 7, "f");
	for (unsigned i = 0; i < 10; i++) {
		set_frame(&memory, 0, 0, (int)i);
		g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
		g_assert_cmpuint(memory.look->frames[0].line, ==, 7 + i / 2);
	}
}

/* Frames by which C calls Python are passed over, also where nothing else is. */
static void test_hidden(const void *data)
{
	const PythonFacts *facts = data;
	g_auto(Memory) memory;

	memory_init(&memory, facts);
	set_code(&memory, 0, 1, "f");
	for (unsigned i = 0; i < 3; i++)
		set_frame(&memory, i, 0, 2);
	foreign_image_set(&memory.image.all, python_image_frame(1) + facts->frame_owner,
		facts->hidden_owner, 1);
	foreign_image_set(&memory.image.all, python_image_frame(1) + facts->frame_code, 0, 8);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->n_frames, ==, 2);
	foreign_image_set_pointer(&memory.image.all, python_image_frame(1) + facts->frame_previous,
		python_image_frame(1));
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_IS_CUT);
}

static void test_threads(const void *data)
{
	const PythonFacts *facts = data;
	g_auto(Memory) memory;

	memory_init(&memory, facts);
	PythonImage *image = &memory.image;
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE); /* no frame */
	set_code(&memory, 0, 1, "f");
	set_frame(&memory, 0, 0, 0);
	g_assert_cmpint(lode_python_frames_read(memory.frames, TID + 1, memory.now_ns + 1,
				memory.look, memory.codes),
		==, LODE_FRAMES_NONE);
	/* a list without an end */
	foreign_image_set_pointer(
		&image->all, PYTHON_IMAGE_THREAD + facts->thread_next, PYTHON_IMAGE_THREAD);
	foreign_image_set_pointer(&image->all, PYTHON_IMAGE_INTERPRETER + facts->next_interpreter,
		PYTHON_IMAGE_INTERPRETER);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	/* it has become another's */
	foreign_image_set(&image->all, PYTHON_IMAGE_POSIX_THREAD + 720, TID + 1, 4);
	if (facts->thread_native != 0)
		foreign_image_set(
			&image->all, PYTHON_IMAGE_THREAD + facts->thread_native, TID + 1, 8);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE);
}

/* A thread of a second interpreter; what says that it is of another one is none. */
static void test_interpreters(const void *data)
{
	const PythonFacts *facts = data;
	const uint64_t second = PYTHON_IMAGE_INTERPRETER, first = 0x180000;
	g_auto(Memory) memory;

	memory_init(&memory, facts);
	PythonImage *image = &memory.image;
	set_code(&memory, 0, 1, "f");
	set_frame(&memory, 0, 0, 0);
	foreign_image_set_pointer(
		&image->all, PYTHON_IMAGE_RUNTIME + facts->interpreters_head, first);
	foreign_image_set_pointer(&image->all, first + facts->next_interpreter, second);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	foreign_image_set_pointer(
		&image->all, PYTHON_IMAGE_THREAD + facts->thread_interpreter, first);
	memory.now_ns += 1000000000;
	lode_python_frames_read(memory.frames, TID + 1, memory.now_ns, memory.look, memory.codes);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE);
}

/* Wide characters, half of a surrogate pair, a NUL, a name of a million characters. */
static void test_names(const void *facts)
{
	static const uint16_t wide[] = {0x4e2d, 'x', 0xd800};
	static const uint32_t wider[] = {0x1f40d, 0x110000, 0};
	g_autofree char *long_name = g_strnfill(900000, 'n');
	g_auto(Memory) memory;

	memory_init(&memory, facts);
	python_image_set_code(
		&memory.image, 0, 1, python_image_add_text(&memory.image, wide, 3, 2));
	python_image_set_code(
		&memory.image, 1, 1, python_image_add_text(&memory.image, wider, 3, 4));
	set_code(&memory, 2, 1, long_name);
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

	memcpy(before, self->image.all.bytes + offset, size);
	foreign_image_set(&self->image.all, offset, value, size);
	g_assert_cmpint(look(self), ==, LODE_FRAMES_TORN);
	g_assert_cmpuint(self->look->n_frames, ==, 0);
	memcpy(self->image.all.bytes + offset, before, size);
	g_assert_cmpint(look(self), ==, LODE_FRAMES_FOUND);
}

static void test_torn(const void *data)
{
	const uint64_t base = FOREIGN_IMAGE_BASE, code = PYTHON_IMAGE_CODES;
	const PythonFacts *facts = data;
	g_auto(Memory) memory;

	memory_init(&memory, facts);
	set_code(&memory, 0, 1, "f");
	set_frame(&memory, 0, 0, 1);
	set_frame(&memory, 1, 0, 2);
	uint64_t frame = python_image_frame(1);
	uint64_t top = facts->has_cframe ? PYTHON_IMAGE_CFRAME + facts->cframe_frame
	                                 : PYTHON_IMAGE_THREAD + facts->thread_top;
	expect_torn(&memory, top, 0x77, 8);
	expect_torn(&memory, top, UINT64_MAX - 4, 8);
	expect_torn(&memory, frame + facts->frame_previous, base + PYTHON_IMAGE_BYTES - 8, 8);
	expect_torn(&memory, frame + facts->frame_code, 0, 8);
	expect_torn(&memory, frame + facts->frame_code, base + PYTHON_IMAGE_FRAMES, 8);
	expect_torn(&memory, code + TYPE, base, 8);
	expect_torn(&memory, code + facts->code_name, base + 3, 8);
	if (facts->code_instructions == 0) {
		expect_torn(&memory, frame + facts->frame_owner, facts->worst_owner, 1);
		expect_torn(&memory, frame + facts->frame_instruction, base + code, 8);
		expect_torn(&memory, frame + facts->frame_instruction,
			base + code + facts->code_bytes + 3, 8);
		expect_torn(&memory, code + 16, UINT64_C(1) << 40, 8);
	} else {
		expect_torn(&memory, frame + facts->frame_instruction, 22, 4);
		expect_torn(&memory, frame + facts->frame_instruction, (uint32_t)-2, 4);
		expect_torn(&memory, code + facts->code_instructions, base + PYTHON_IMAGE_BYTES, 8);
	}
}

/* Frames that lead to themselves. */
static void test_loop(const void *data)
{
	const PythonFacts *facts = data;
	g_auto(Memory) memory;

	memory_init(&memory, facts);
	set_code(&memory, 0, 1, "f");
	set_frame(&memory, 0, 0, 1);
	foreign_image_set_pointer(&memory.image.all, python_image_frame(0) + facts->frame_previous,
		python_image_frame(0));
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->n_frames, ==, LODE_SCRIPT_MAX_FRAMES);
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_IS_CUT);
}

/* More than are read at once, and more than a look has, in the order of the stack. */
static void test_deep(const void *facts)
{
	static const unsigned depths[] = {120, 800};

	for (size_t k = 0; k < G_N_ELEMENTS(depths); k++) {
		g_auto(Memory) memory;
		memory_init(&memory, facts);
		set_code(&memory, 0, 1, "f");
		set_code(&memory, 1, 100, "g");
		for (unsigned i = 0; i < depths[k]; i++)
			set_frame(&memory, i, i % 2, (int)(i % 10));
		g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
		g_assert_cmpuint(memory.look->n_frames, ==, MIN(depths[k], LODE_SCRIPT_MAX_FRAMES));
		for (unsigned i = 0; i < memory.look->n_frames; i++) {
			unsigned number = depths[k] - 1 - i;
			g_assert_cmpuint(memory.look->frames[i].line, ==,
				(number % 2 == 0 ? 1 : 100) + number % 10 / 2);
		}
	}
}

static void test_random(const void *facts)
{
	static const uint32_t seeds[] = {1, 2, 3};

	for (size_t s = 0; s < G_N_ELEMENTS(seeds); s++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seeds[s]);
		g_auto(Memory) memory;
		memory_init(&memory, facts);
		set_code(&memory, 0, 1, "f");
		set_code(&memory, 1, 9, "g");
		for (unsigned i = 0; i < 5; i++)
			set_frame(&memory, i, i % 2, 3);
		const uint64_t places[] = {PYTHON_IMAGE_THREAD, PYTHON_IMAGE_CFRAME,
			PYTHON_IMAGE_FRAMES, python_image_frame(1), PYTHON_IMAGE_CODES,
			PYTHON_IMAGE_CODES + PYTHON_IMAGE_CODE_STEP, PYTHON_IMAGE_ALLOCATED};
		for (unsigned i = 0; i < random_rounds(1000, 10000); i++) {
			uint64_t at = places[g_rand_int_range(random, 0, G_N_ELEMENTS(places))] +
			              (uint64_t)g_rand_int_range(random, 0, 200);
			uint8_t before = memory.image.all.bytes[at];
			memory.image.all.bytes[at] = (uint8_t)g_rand_int(random);
			look(&memory);
			g_assert_cmpuint(memory.look->n_frames, <=, LODE_SCRIPT_MAX_FRAMES);
			for (uint32_t k = 0; k < memory.look->n_frames; k++)
				g_assert_cmpuint(
					memory.look->frames[k].line - 1, <, LODE_SCRIPT_MAX_LINE);
			if (i % 4 != 0)
				memory.image.all.bytes[at] = before;
		}
	}
}

/* Builds whose objects are larger (with lists of all objects, for debugging), and versions that are
 * not known: no frames rather than wrong ones. */
static void test_other_layouts(const void *data)
{
	const PythonFacts *facts = data;
	const uint64_t sizes[] = {0, UINT64_MAX, facts->code_basic_size + 16};
	g_auto(PythonImage) image;
	uint32_t next = 0;

	python_image_init(&image, facts);
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		foreign_image_set(&image.all, PYTHON_IMAGE_TYPES + BASIC_SIZE, sizes[i], 8);
		g_assert_null(lode_python_frames_new(&image.symbols, &image.all.memory, &next));
	}
	foreign_image_set(&image.all, PYTHON_IMAGE_TYPES + BASIC_SIZE, facts->code_basic_size, 8);
	image.symbols.version_hex = 0x030f00f0;
	g_assert_null(lode_python_frames_new(&image.symbols, &image.all.memory, &next));
}

/* What 3.13 and 3.14 say of themselves, each word of it changed. */
static void test_described(const void *facts)
{
	static const uint64_t values[] = {0, 7, 499, 1 << 20, UINT64_MAX};
	g_auto(Memory) memory;
	uint32_t next = 0;

	memory_init(&memory, facts);
	set_code(&memory, 0, 1, "f");
	for (unsigned i = 0; i < 5; i++)
		set_frame(&memory, i, 0, 3);
	for (unsigned i = 0; i < 96 * G_N_ELEMENTS(values); i++) {
		uint64_t at = PYTHON_IMAGE_RUNTIME + i / G_N_ELEMENTS(values) * 8;
		uint64_t before;
		memcpy(&before, memory.image.all.bytes + at, sizeof(before));
		foreign_image_set(&memory.image.all, at, values[i % G_N_ELEMENTS(values)], 8);
		LodePythonFrames *frames = lode_python_frames_new(
			&memory.image.symbols, &memory.image.all.memory, &next);
		if (frames != NULL)
			lode_python_frames_read(
				frames, TID, memory.now_ns, memory.look, memory.codes);
		g_assert_cmpuint(memory.look->n_frames, <=, LODE_SCRIPT_MAX_FRAMES);
		lode_python_frames_free(frames);
		foreign_image_set(&memory.image.all, at, before, 8);
	}
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
}

/* --- lines --- */

typedef struct {
	const char *name;
	LodePythonTable kind;
	const char *hex;
	uint32_t code_bytes;
	LodePythonLine expected[20]; /* 0 ends them */
} Table;

/* The tables that CPython made of functions, and what its co_lines() or dis.findlinestarts() says:
 * loops, an exception, a call over several lines, a long line; code without a line of its own. */
static const Table tables[] = {
	{"3.8", LODE_PYTHON_LNOTAB, "0001040108010801ac020201040102ff0a020e020401020102fe0a03", 246,
		{{0, 2}, {4, 3}, {12, 4}, {20, 5}, {192, 7}, {194, 8}, {198, 9}, {200, 8},
			{210, 10}, {224, 12}, {228, 13}, {230, 14}, {232, 12}, {242, 15}}},
	{"3.10", LODE_PYTHON_RANGES,
		"040108010801aa0102ff02030401020108ff04070cfb04020201020106fe040302fb", 244,
		{{0, 2}, {4, 3}, {12, 4}, {20, 5}, {190, 4}, {192, 7}, {194, 8}, {198, 9}, {200, 8},
			{208, 15}, {212, 10}, {224, 12}, {228, 13}, {230, 14}, {232, 12}, {238, 15},
			{242, 10}}},
	{"3.10, cleaning up", LODE_PYTHON_RANGES, "02010c010e011601088002ff", 60,
		{{0, 2}, {2, 3}, {14, 4}, {28, 5}, {58, 4}}},
	{"3.11", LODE_PYTHON_LOCATIONS,
		"8000d80c0d8045d81015f0000a0517f0000a05178804d80b0f9035883d883dd8"
		"0c119553981491599459"
		"d10c1e8845f004060917d80c119553f00003190ef00003190ee0191df0050319"
		"0ef10003190ef4000319"
		"0ef10003160ef40003160ef100030d0e88458845f8f50800101af000010917f0"
		"00010917f000010917d8"
		"0c119051894a884588458845f003010917f8f8f8e00b10804c",
		164,
		{{0, 1}, {2, 2}, {6, 3}, {14, 4}, {22, 5}, {58, 7}, {60, 8}, {78, 10}, {80, 8},
			{120, 12}, {138, 13}, {152, 12}, {160, 14}}},
	{"3.11, a module", LODE_PYTHON_LOCATIONS,
		"f003010101d8000b800b800b800bd804058001e0090e8815887189188c18f00001010bf00001010b"
		"8041d804058811814680418041d800058005806181088408800880088008",
		78, {{2, 1}, {10, 2}, {14, 4}, {40, 5}, {52, 6}}},
};

static GBytes *bytes_of(const char *hex)
{
	size_t n = strlen(hex) / 2;
	uint8_t *bytes = g_malloc(n);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(g_ascii_xdigit_value(hex[2 * i]) << 4 |
				     g_ascii_xdigit_value(hex[2 * i + 1]));
	return g_bytes_new_take(bytes, n);
}

static void test_lines(const void *data)
{
	const Table *table = data;
	g_autoptr(GBytes) bytes = bytes_of(table->hex);
	g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(LodePythonLine));
	guint n = 0;

	lode_python_lines_read(table->kind, bytes, 1, table->code_bytes, lines);
	for (; table->expected[n].line != 0; n++) {
		const LodePythonLine *expected = &table->expected[n];
		uint32_t end = n + 1 < G_N_ELEMENTS(table->expected) && expected[1].line != 0
		                       ? expected[1].offset
		                       : table->code_bytes;
		for (uint32_t i = expected->offset; i < end; i++)
			g_assert_cmpuint(lode_python_lines_find(lines, i, 1), ==, expected->line);
	}
	g_assert_cmpuint(lines->len, ==, n);
	/* cut short, and in other code */
	for (gsize i = 0; i < g_bytes_get_size(bytes); i++) {
		g_autoptr(GBytes) part = g_bytes_new_from_bytes(bytes, 0, i);
		g_array_set_size(lines, 0);
		lode_python_lines_read(
			table->kind, part, LODE_SCRIPT_MAX_LINE - 3, table->code_bytes, lines);
		for (guint k = 0; k < lines->len; k++)
			g_assert_cmpuint(g_array_index(lines, LodePythonLine, k).line, <=,
				LODE_SCRIPT_MAX_LINE);
	}
}

static void add_tests(const PythonFacts *facts)
{
	static const struct {
		const char *name;
		GTestDataFunc test;
	} tests[] = {{"frames", test_frames}, {"instructions", test_instructions},
		{"hidden", test_hidden}, {"threads", test_threads},
		{"interpreters", test_interpreters}, {"names", test_names}, {"torn", test_torn},
		{"loop", test_loop}, {"deep", test_deep}, {"random", test_random},
		{"other-layouts", test_other_layouts}, {"described", test_described}};

	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
		g_autofree char *path = g_strdup_printf(
			"/process/python-frames/%s/%s", facts->name, tests[i].name);
		if ((tests[i].test != test_hidden || facts->hidden_owner != 0) &&
			(tests[i].test != test_described || facts->version_hex >> 16 >= 0x030d))
			g_test_add_data_func(path, facts, tests[i].test);
	}
}

int main(int argc, char **argv)
{
	size_t n;
	const PythonFacts *facts = python_facts(&n);

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < n; i++)
		add_tests(&facts[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
		g_autofree char *path = g_strdup_printf(
			"/process/python-frames/lines/%s", tables[i].name);
		g_test_add_data_func(path, &tables[i], test_lines);
	}
	return g_test_run();
}
