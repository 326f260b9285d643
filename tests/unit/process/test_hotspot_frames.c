/* SPDX-License-Identifier: MIT */
/* Frames of HotSpot in memory that the test builds: right, and hostile. */
#include "process/interpreters/hotspot_frames.h"
#include "seeds.h"

#include <string.h>

#define BASE UINT64_C(0x30000000)

enum {
	SIZE = 1 << 18,
	TID = 4712,
	SYMBOLS = 0x100, /* each a word */
	STRUCTS = 0x1000,
	STRUCT_STRIDE = 48,
	TYPES = 0x4000,
	TYPE_STRIDE = 32,
	STATICS = 0x5000,
	THREAD = 0x5100,
	SYSTEM = 0x5200,
	LIST = 0x5300,
	STUBS = 0x5400,
	HEAP = 0x5500,
	INTERPRETER = 0x6000, /* its code */
	CODE = 0x8000,        /* the heap's */
	SEGMENT = 128,
	SEGMAP = 0xc000,
	STACK = 0x10000,
	ALLOCATED = 0x18000,
	/* of members, as the test has them */
	ANCHOR = 0x40,
	REST_BYTES = 48,
	POOL_BYTES = 72,
	BLOCK_BYTES = 16,
	FRAME_WORDS = 6,
};

typedef struct {
	const char *type, *field;
	uint64_t value;
} Member;

static const Member members[] = {
	{"ThreadsList", "_length", 4},
	{"ThreadsList", "_threads", 16},
	{"JavaThread", "_anchor", ANCHOR},
	{"JavaThread", "_osthread", 8},
	{"OSThread", "_thread_id", 12},
	{"JavaFrameAnchor", "_last_Java_sp", 0},
	{"JavaFrameAnchor", "_last_Java_fp", 16},
	{"JavaFrameAnchor", "_last_Java_pc", 8},
	{"StubQueue", "_stub_buffer", 8},
	{"StubQueue", "_buffer_limit", 20},
	{"Method", "_constMethod", 8},
	{"ConstMethod", "_constants", 8},
	{"ConstMethod", "_flags", 28},
	{"ConstMethod", "_code_size", 32},
	{"ConstMethod", "_name_index", 34},
	{"ConstMethod", "_signature_index", 36},
	{"ConstantPool", "_pool_holder", 24},
	{"ConstantPool", "_source_file_name_index", 54},
	{"ConstantPool", "_length", 60},
	{"Klass", "_name", 24},
	{"Symbol", "_length", 4},
	{"Symbol", "_body[0]", 6},
	{"GrowableArrayBase", "_len", 0},
	{"GenericGrowableArray", "_len", 0},
	{"GrowableArray<int>", "_data", 8},
	{"CodeHeap", "_memory", 8},
	{"CodeHeap", "_segmap", 120},
	{"CodeHeap", "_log2_segment_size", 248},
	{"VirtualSpace", "_low", 16},
	{"VirtualSpace", "_high", 24},
	{"CodeBlob", "_name", 8},
	{"CodeBlob", "_frame_size", 16},
};

/* Of nmethods, as up to JDK 22, and from 23 on. */
static const Member before[] = {
	{"CodeBlob", "_code_begin", 24},
	{"nmethod", "_scopes_pcs_offset", 32},
	{"nmethod", "_dependencies_offset", 36},
	{"CompiledMethod", "_scopes_data_begin", 40},
	{"nmethod", "_metadata_offset", 48},
	{NULL},
};
static const Member after[] = {
	{"CodeBlob", "_code_offset", 24},
	{"CodeBlob", "_mutable_data", 32},
	{"CodeBlob", "_relocation_size", 28},
	{"nmethod", "_immutable_data", 40},
	{"nmethod", "_scopes_pcs_offset", 48},
	{"nmethod", "_scopes_data_offset", 52},
	{NULL},
};

typedef struct {
	uint8_t *bytes;
	uint64_t free;
	bool is_new; /* of JDK 23 or later */
	void *frames;
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

static bool read_parts(void *data, const LodeForeignPart *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (read_memory(data, parts[i].address, parts[i].to, parts[i].size) !=
			parts[i].size)
			return false;
	return true;
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

static uint64_t allocate(Memory *self, size_t size)
{
	uint64_t at = self->free;

	self->free += (size + 15) / 16 * 16;
	g_assert_cmpuint(self->free, <=, SIZE);
	return at;
}

static uint64_t add_name(Memory *self, const char *text)
{
	uint64_t at = allocate(self, strlen(text) + 1);

	memcpy(self->bytes + at, text, strlen(text));
	return at;
}

static uint64_t add_symbol(Memory *self, const char *text)
{
	uint64_t at = allocate(self, strlen(text) + 6);

	set(self, at + 4, strlen(text), 2);
	memcpy(self->bytes + at + 6, text, strlen(text));
	return at;
}

static void add_member(Memory *self, uint64_t *at, const Member *member, bool is_static)
{
	set_pointer(self, *at, add_name(self, member->type));
	set_pointer(self, *at + 8, add_name(self, member->field));
	set(self, *at + 32, member->value, 8);
	if (is_static)
		set_pointer(self, *at + 40, member->value);
	*at += STRUCT_STRIDE;
}

static void add_tables(Memory *self)
{
	static const Member statics[] = {{"ThreadsSMRSupport", "_java_thread_list", STATICS},
		{"AbstractInterpreter", "_code", STATICS + 8},
		{"CodeCache", "_heaps", STATICS + 16},
		{"Abstract_VM_Version", "_vm_major_version", STATICS + 24}};
	static const Member sizes[] = {{"ConstMethod", NULL, REST_BYTES},
		{"ConstantPool", NULL, POOL_BYTES}, {"HeapBlock", NULL, BLOCK_BYTES}};
	static const uint64_t values[LODE_HOTSPOT_N_SYMBOLS] = {
		BASE + STRUCTS, 0, 8, 32, 40, STRUCT_STRIDE, BASE + TYPES, 0, 24, TYPE_STRIDE};
	uint64_t at = STRUCTS;

	for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
		set(self, SYMBOLS + i * 8, values[i], 8);
	for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
		add_member(self, &at, &members[i], false);
	for (const Member *one = self->is_new ? after : before; one->type != NULL; one++)
		add_member(self, &at, one, false);
	for (size_t i = 0; i < G_N_ELEMENTS(statics); i++)
		add_member(self, &at, &statics[i], true);
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		set_pointer(self, TYPES + i * TYPE_STRIDE, add_name(self, sizes[i].type));
		set(self, TYPES + i * TYPE_STRIDE + 24, sizes[i].value, 8);
	}
}

static void add_machine(Memory *self)
{
	uint64_t threads = allocate(self, 8), heaps = allocate(self, 16), all = allocate(self, 8);

	set_pointer(self, STATICS, LIST);
	set(self, LIST + 4, 1, 4);
	set_pointer(self, LIST + 16, threads);
	set_pointer(self, threads, THREAD);
	set_pointer(self, THREAD + 8, SYSTEM);
	set(self, SYSTEM + 12, TID, 4);
	set_pointer(self, STATICS + 8, STUBS);
	set_pointer(self, STUBS + 8, INTERPRETER);
	set(self, STUBS + 20, 0x1000, 4);
	set_pointer(self, STATICS + 16, heaps);
	set(self, heaps, 1, 4);
	set_pointer(self, heaps + 8, all);
	set_pointer(self, all, HEAP);
	set_pointer(self, HEAP + 8 + 16, CODE);
	set_pointer(self, HEAP + 8 + 24, CODE + 0x2000);
	set_pointer(self, HEAP + 120 + 16, SEGMAP);
	set(self, HEAP + 248, 7, 4);
	memset(self->bytes + SEGMAP, 0xff, 0x40);
	set(self, STATICS + 24, self->is_new ? 25 : 17, 4);
}

static void memory_init(Memory *self, bool is_new)
{
	const LodeForeignMemory memory = {read_memory, self, read_parts};
	uint64_t symbols[LODE_HOTSPOT_N_SYMBOLS];

	*self = (Memory){.bytes = g_malloc0(SIZE), .free = ALLOCATED, .is_new = is_new};
	add_tables(self);
	add_machine(self);
	for (size_t i = 0; i < G_N_ELEMENTS(symbols); i++)
		symbols[i] = BASE + SYMBOLS + i * 8;
	self->look = g_new0(LodeScriptLook, 1);
	self->codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode));
	self->frames = lode_hotspot_frames_open(symbols, &memory, &self->next_code);
}

static void memory_clear(Memory *self)
{
	lode_hotspot_frames_close(self->frames);
	g_array_unref(self->codes);
	g_free(self->look);
	g_free(self->bytes);
}

/* A method of 40 instructions: from line `first` on, a line more at 10 and at 20. */
static uint64_t add_method(Memory *self, const char *class, const char *name, uint32_t first)
{
	uint64_t method = allocate(self, 64), rest = allocate(self, REST_BYTES + 64);
	uint64_t pool = allocate(self, POOL_BYTES + 8 * 8), holder = allocate(self, 64);
	const char *base = strrchr(class, '/') != NULL ? strrchr(class, '/') + 1 : class;
	g_autofree char *file = g_strconcat(base, ".java", NULL);
	const uint8_t lines[] = {0xff, self->is_new, (uint8_t)(2 * first + self->is_new),
		10 << 3 | 1, 10 << 3 | 1, 0};

	set_pointer(self, method + 8, rest);
	set_pointer(self, rest + 8, pool);
	set(self, rest + 28, 1, 2);
	set(self, rest + 32, 40, 2);
	set(self, rest + 34, 1, 2);
	set(self, rest + 36, 2, 2);
	memcpy(self->bytes + rest + REST_BYTES + 40, lines, sizeof(lines));
	set_pointer(self, pool + 24, holder);
	set(self, pool + 54, 3, 2);
	set(self, pool + 60, 8, 4);
	set_pointer(self, pool + POOL_BYTES + 8, add_symbol(self, name));
	set_pointer(self, pool + POOL_BYTES + 16, add_symbol(self, "(I)V"));
	set_pointer(self, pool + POOL_BYTES + 24, add_symbol(self, file));
	set_pointer(self, holder + 24, add_symbol(self, class));
	return method;
}

/* A frame of the interpreter in the middle of the stack; `next` is the caller's, of 0x100 bytes. */
static void add_interpreted(
	Memory *self, uint64_t fp, uint64_t method, uint32_t bytecode, uint64_t caller_pc)
{
	uint64_t rest = 0;

	memcpy(&rest, self->bytes + method + 8, sizeof(rest));
	set_pointer(self, fp - 24, method);
	set(self, fp - 64, rest + REST_BYTES + bytecode, 8);
	set_pointer(self, fp - 8, fp + 16);
	set_pointer(self, fp, fp + 0x100);
	set_pointer(self, fp + 8, caller_pc);
}

/* Compiled code at a segment, that calls at its byte 0x40 in `inner`, which is inlined into `outer`
 * at 12. Gives the return address. */
static uint64_t add_compiled(Memory *self, unsigned segment, uint64_t inner, uint64_t outer)
{
	uint64_t blob = CODE + segment * SEGMENT + BLOCK_BYTES, code = blob + 0x70;
	uint64_t constant = self->is_new ? allocate(self, 64) : blob + 0x100;
	uint64_t methods = self->is_new ? allocate(self, 32) + 8 : blob + 0x180;
	uint64_t places = constant, scopes = constant + 32;
	uint8_t x = self->is_new;
	/* the caller's scope, the method's number, the instruction and 1 more; the first is none */
	const uint8_t told[] = {x, x, x, x, (uint8_t)(2 + x), (uint8_t)(13 + x), (uint8_t)(3 + x),
		(uint8_t)(1 + x), (uint8_t)(6 + x)};

	for (unsigned i = 0; i < 4; i++)
		self->bytes[SEGMAP + segment + i] = (uint8_t)i;
	set_pointer(self, blob + 8, add_name(self, "nmethod"));
	set(self, blob + 16, FRAME_WORDS, 4);
	set(self, places, 0x20 | UINT64_C(3) << 32, 8);
	set(self, places + 16, 0x45 | UINT64_C(6) << 32, 8);
	memcpy(self->bytes + scopes, told, sizeof(told));
	set_pointer(self, methods, inner);
	set_pointer(self, methods + 8, outer);
	if (self->is_new) {
		set(self, blob + 24, code - blob, 4);
		set(self, blob + 28, 8, 4);
		set_pointer(self, blob + 32, methods - 8);
		set_pointer(self, blob + 40, constant);
		set(self, blob + 48, 0, 4);
		set(self, blob + 52, 32, 4);
	} else {
		set_pointer(self, blob + 24, code);
		set(self, blob + 32, places - blob, 4);
		set(self, blob + 36, scopes - blob, 4);
		set_pointer(self, blob + 40, scopes);
		set(self, blob + 48, methods - blob, 4);
	}
	return code + 0x45;
}

static void set_anchor(Memory *self, uint64_t sp, uint64_t fp, uint64_t pc)
{
	set(self, THREAD + ANCHOR, sp != 0 ? BASE + sp : 0, 8);
	set(self, THREAD + ANCHOR + 16, fp != 0 ? BASE + fp : 0, 8);
	set(self, THREAD + ANCHOR + 8, pc != 0 ? BASE + pc : 0, 8);
}

static LodeFramesOutcome look(Memory *self)
{
	self->now_ns += UINT64_C(5000000000);
	return lode_hotspot_frames_read(self->frames, &(LodeFramesThread){4711, TID, self->now_ns},
		self->look, self->codes);
}

/* "Shop.sell(int) Shop.java:12; …" */
static char *frames_text(const Memory *self)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (uint32_t i = 0; i < self->look->n_frames; i++) {
		const LodeScriptFrame *frame = &self->look->frames[i];
		for (guint k = 0; k < self->codes->len; k++) {
			const LodeScriptCode *code = &g_array_index(self->codes, LodeScriptCode, k);
			if (code->number == frame->code)
				g_string_append_printf(text, "%s%s %s:%u", i > 0 ? "; " : "",
					code->function, code->file, frame->line);
		}
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static void assert_frames(Memory *self, const char *expected)
{
	g_assert_cmpint(look(self), ==, expected != NULL ? LODE_FRAMES_FOUND : LODE_FRAMES_NONE);
	g_autofree char *text = frames_text(self);
	if (expected != NULL)
		g_assert_cmpstr(text, ==, expected);
}

/* A thread that waits in the class library, interpreted and compiled, called by the user's. */
static void build(Memory *self)
{
	uint64_t park = add_method(self, "java/util/concurrent/Queue", "park", 90);
	uint64_t take = add_method(self, "java/util/concurrent/Queue", "take", 30);
	uint64_t sell = add_method(self, "shop/Shop", "sell", 7);
	uint64_t run = add_method(self, "Later", "run", 50);
	uint64_t compiled = add_compiled(self, 8, take, sell);
	uint64_t end = STACK + 0x100 + 16 + FRAME_WORDS * 8;

	add_interpreted(self, STACK + 0x100, park, 25, compiled);
	set_pointer(self, end - 16, end + 0x100);
	set_pointer(self, end - 8, INTERPRETER + 0x20);
	add_interpreted(self, end + 0x100, run, 10, 0x100);
	set_anchor(self, STACK, STACK + 0x100, INTERPRETER + 0x10);
}

static void test_frames(void)
{
	for (int is_new = 0; is_new < 2; is_new++) {
		Memory memory;
		memory_init(&memory, is_new != 0);
		g_assert_nonnull(memory.frames);
		assert_frames(&memory, NULL);
		build(&memory);
		assert_frames(&memory,
			"java.util.concurrent.Queue.park(int) java/util/concurrent/Queue.java:92; "
			"java.util.concurrent.Queue.take(int) java/util/concurrent/Queue.java:30; "
			"shop.Shop.sell(int) shop/Shop.java:8; Later.run(int) Later.java:51");
		/* It runs Java code. */
		set_anchor(&memory, 0, 0, 0);
		assert_frames(&memory, NULL);
		/* Another thread. */
		set_anchor(&memory, STACK, STACK + 0x100, INTERPRETER + 0x10);
		set(&memory, STATICS, 0, 8);
		assert_frames(&memory, NULL);
		memory_clear(&memory);
	}
}

/* What calls by a stub has its return address below the stack pointer. */
static void test_without_pc(void)
{
	Memory memory;

	memory_init(&memory, false);
	uint64_t run = add_method(&memory, "Later", "run", 50);
	set_pointer(&memory, STACK + 0x80, INTERPRETER + 0x10);
	add_interpreted(&memory, STACK + 0x100, run, 0, 0x100);
	set_anchor(&memory, STACK + 0x88, STACK + 0x100, 0);
	assert_frames(&memory, "Later.run(int) Later.java:50");
	memory_clear(&memory);
}

/* Only the class library's code is known, or none: nothing is said. */
static void test_nothing(void)
{
	Memory memory;

	memory_init(&memory, false);
	uint64_t park = add_method(&memory, "java/util/concurrent/Queue", "park", 90);
	add_interpreted(&memory, STACK + 0x100, park, 0, 0x100);
	set_anchor(&memory, STACK, STACK + 0x100, INTERPRETER + 0x10);
	assert_frames(&memory, NULL);
	set_anchor(&memory, STACK, STACK + 0x100, CODE + 0x10);
	assert_frames(&memory, NULL);
	memory_clear(&memory);
}

/* A table without what is needed, or that is none, is not of a version that is known. */
static void test_tables(void)
{
	Memory memory;
	uint64_t symbols[LODE_HOTSPOT_N_SYMBOLS];
	LodeHotspotLayout layout;

	memory_init(&memory, false);
	const LodeForeignMemory foreign = {read_memory, &memory, read_parts};
	for (size_t i = 0; i < G_N_ELEMENTS(symbols); i++)
		symbols[i] = BASE + SYMBOLS + i * 8;
	g_assert_true(lode_hotspot_layout_read(&layout, symbols, &foreign));
	g_assert_cmpuint(layout.pool_class, ==, 24);
	g_assert_cmpuint(layout.threads_at, ==, BASE + STATICS);
	g_assert_cmpuint(layout.rest_bytes, ==, REST_BYTES);
	g_assert_cmpuint(layout.class_file, ==, LODE_HOTSPOT_LACKS);
	set(&memory, STRUCTS + 32, 1 << 20, 8);
	g_assert_false(lode_hotspot_layout_read(&layout, symbols, &foreign));
	set(&memory, STRUCTS + 32, 4, 8);
	set(&memory, TYPES, 0, 8);
	g_assert_false(lode_hotspot_layout_read(&layout, symbols, &foreign));
	for (uint64_t stride = 0; stride < 8; stride++) {
		set(&memory, SYMBOLS + LODE_HOTSPOT_STRUCT_STRIDE * 8, stride, 8);
		g_assert_false(lode_hotspot_layout_read(&layout, symbols, &foreign));
	}
	memory_clear(&memory);
}

/* As HotSpot writes them (unsigned5.hpp, its example: 0 to 191 in a byte, 192 in two). */
static void test_numbers(void)
{
	static const struct {
		uint8_t bytes[5];
		size_t n;
		bool no_zeros, is_read;
		uint32_t value;
	} cases[] = {
		{{0}, 1, false, true, 0},
		{{191}, 1, false, true, 191},
		{{192, 0}, 2, false, true, 192},
		{{255, 1}, 2, false, true, 255 + 64},
		{{192}, 1, false, false, 0},
		{{1}, 1, true, true, 0},
		{{0}, 1, true, false, 0},
		{{191}, 1, true, true, 190},
		{{192, 1}, 2, true, true, 191},
		{{255, 255, 255, 255, 255}, 5, false, true,
			255u + (255u << 6) + (255u << 12) + (255u << 18) + (255u << 24)},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		size_t at = 0;
		uint32_t value = 0;
		g_assert_cmpint(lode_hotspot_number_read(
					cases[i].bytes, cases[i].n, cases[i].no_zeros, &at, &value),
			==, cases[i].is_read);
		g_assert_cmpuint(value, ==, cases[i].value);
		if (cases[i].is_read)
			g_assert_cmpuint(at, ==, cases[i].n);
	}
}

/* Bytes that changed, each look anew: what is told is whole, whatever it is. */
static void test_hostile(void)
{
	unsigned n = random_rounds(3000, 100000);

	for (unsigned round = 0; round < n; round++) {
		Memory memory;
		memory_init(&memory, random_bit());
		build(&memory);
		for (int i = random_int_range(1, 12); i > 0; i--) {
			uint64_t at = (uint64_t)(random_bit()
							 ? random_int_range(STATICS, STACK + 0x400)
							 : random_int_range(
								   ALLOCATED, (gint32)memory.free));
			set(&memory, at / 8 * 8,
				random_bit() ? BASE + (uint64_t)random_int_range(0, SIZE)
					     : (uint64_t)random_int(),
				random_bit() ? 8 : 1);
		}
		for (int i = 0; i < 2; i++) {
			LodeFramesOutcome outcome = look(&memory);
			g_assert_true(outcome != LODE_FRAMES_FOUND || memory.look->n_frames > 0);
			g_assert_cmpuint(memory.look->n_frames, <=, LODE_SCRIPT_MAX_FRAMES);
		}
		for (guint i = 0; i < memory.codes->len; i++) {
			const LodeScriptCode *code = &g_array_index(
				memory.codes, LodeScriptCode, i);
			g_assert_true(g_utf8_validate(code->function, -1, NULL));
			g_assert_cmpuint(code->first_line, >, 0);
			g_assert_cmpuint(code->last_line, >=, code->first_line);
		}
		memory_clear(&memory);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/hotspot_frames/frames", test_frames);
	g_test_add_func("/hotspot_frames/without_pc", test_without_pc);
	g_test_add_func("/hotspot_frames/nothing", test_nothing);
	g_test_add_func("/hotspot_frames/tables", test_tables);
	g_test_add_func("/hotspot_frames/numbers", test_numbers);
	add_random_test("/hotspot_frames/hostile", test_hostile,
		"R02S4e0d1b5f6a7c4d2f9b8e3c6a50f1d297", NULL);
	return g_test_run();
}
