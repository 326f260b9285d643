/* SPDX-License-Identifier: MIT */
#include "hotspot_image.h"

#include <string.h>

enum { SEGMENT = 128, POOL_BYTES = 72, BLOCK_BYTES = 16, FRAME_WORDS = 6 };

typedef struct {
	const char *type, *field;
	uint64_t value;
} Member;

static const Member members[] = {
	{"ThreadsList", "_length", 4},
	{"ThreadsList", "_threads", 16},
	{"JavaThread", "_anchor", HOTSPOT_IMAGE_ANCHOR},
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

static uint64_t add_symbol(HotspotImage *self, const char *text)
{
	uint64_t at = foreign_image_allocate(&self->all, strlen(text) + 6);

	foreign_image_set(&self->all, at + 4, strlen(text), 2);
	memcpy(self->all.bytes + at + 6, text, strlen(text));
	return at;
}

static void add_member(HotspotImage *self, uint64_t *at, const Member *member, bool is_static)
{
	foreign_image_set_pointer(
		&self->all, *at, foreign_image_add_text(&self->all, member->type));
	foreign_image_set_pointer(
		&self->all, *at + 8, foreign_image_add_text(&self->all, member->field));
	foreign_image_set(&self->all, *at + 32, member->value, 8);
	if (is_static)
		foreign_image_set_pointer(&self->all, *at + 40, member->value);
	*at += HOTSPOT_IMAGE_STRUCT_STRIDE;
}

static void add_tables(HotspotImage *self)
{
	static const Member statics[] = {
		{"ThreadsSMRSupport", "_java_thread_list", HOTSPOT_IMAGE_STATICS},
		{"AbstractInterpreter", "_code", HOTSPOT_IMAGE_STATICS + 8},
		{"CodeCache", "_heaps", HOTSPOT_IMAGE_STATICS + 16},
		{"Abstract_VM_Version", "_vm_major_version", HOTSPOT_IMAGE_STATICS + 24}};
	static const Member sizes[] = {{"ConstMethod", NULL, HOTSPOT_IMAGE_REST_BYTES},
		{"ConstantPool", NULL, POOL_BYTES}, {"HeapBlock", NULL, BLOCK_BYTES}};
	static const uint64_t values[LODE_HOTSPOT_N_SYMBOLS] = {
		FOREIGN_IMAGE_BASE + HOTSPOT_IMAGE_STRUCTS, 0, 8, 32, 40,
		HOTSPOT_IMAGE_STRUCT_STRIDE, FOREIGN_IMAGE_BASE + HOTSPOT_IMAGE_TYPES, 0, 24,
		HOTSPOT_IMAGE_TYPE_STRIDE};
	uint64_t at = HOTSPOT_IMAGE_STRUCTS;

	for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
		foreign_image_set(&self->all, HOTSPOT_IMAGE_SYMBOLS + i * 8, values[i], 8);
	for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
		add_member(self, &at, &members[i], false);
	for (const Member *one = self->is_new ? after : before; one->type != NULL; one++)
		add_member(self, &at, one, false);
	for (size_t i = 0; i < G_N_ELEMENTS(statics); i++)
		add_member(self, &at, &statics[i], true);
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		foreign_image_set_pointer(&self->all,
			HOTSPOT_IMAGE_TYPES + i * HOTSPOT_IMAGE_TYPE_STRIDE,
			foreign_image_add_text(&self->all, sizes[i].type));
		foreign_image_set(&self->all,
			HOTSPOT_IMAGE_TYPES + i * HOTSPOT_IMAGE_TYPE_STRIDE + 24, sizes[i].value,
			8);
	}
}

static void add_machine(HotspotImage *self)
{
	uint64_t threads = foreign_image_allocate(&self->all, 8),
		 heaps = foreign_image_allocate(&self->all, 16),
		 all = foreign_image_allocate(&self->all, 8);

	foreign_image_set_pointer(&self->all, HOTSPOT_IMAGE_STATICS, HOTSPOT_IMAGE_LIST);
	foreign_image_set(&self->all, HOTSPOT_IMAGE_LIST + 4, 1, 4);
	foreign_image_set_pointer(&self->all, HOTSPOT_IMAGE_LIST + 16, threads);
	foreign_image_set_pointer(&self->all, threads, HOTSPOT_IMAGE_THREAD);
	foreign_image_set_pointer(&self->all, HOTSPOT_IMAGE_THREAD + 8, HOTSPOT_IMAGE_SYSTEM);
	foreign_image_set(&self->all, HOTSPOT_IMAGE_SYSTEM + 12, HOTSPOT_IMAGE_TID, 4);
	foreign_image_set_pointer(&self->all, HOTSPOT_IMAGE_STATICS + 8, HOTSPOT_IMAGE_STUBS);
	foreign_image_set_pointer(&self->all, HOTSPOT_IMAGE_STUBS + 8, HOTSPOT_IMAGE_INTERPRETER);
	foreign_image_set(&self->all, HOTSPOT_IMAGE_STUBS + 20, 0x1000, 4);
	foreign_image_set_pointer(&self->all, HOTSPOT_IMAGE_STATICS + 16, heaps);
	foreign_image_set(&self->all, heaps, 1, 4);
	foreign_image_set_pointer(&self->all, heaps + 8, all);
	foreign_image_set_pointer(&self->all, all, HOTSPOT_IMAGE_HEAP);
	foreign_image_set_pointer(&self->all, HOTSPOT_IMAGE_HEAP + 8 + 16, HOTSPOT_IMAGE_CODE);
	foreign_image_set_pointer(
		&self->all, HOTSPOT_IMAGE_HEAP + 8 + 24, HOTSPOT_IMAGE_CODE + 0x2000);
	foreign_image_set_pointer(&self->all, HOTSPOT_IMAGE_HEAP + 120 + 16, HOTSPOT_IMAGE_SEGMAP);
	foreign_image_set(&self->all, HOTSPOT_IMAGE_HEAP + 248, 7, 4);
	memset(self->all.bytes + HOTSPOT_IMAGE_SEGMAP, 0xff, 0x40);
	foreign_image_set(&self->all, HOTSPOT_IMAGE_STATICS + 24, self->is_new ? 25 : 17, 4);
}

uint64_t hotspot_image_add_method(
	HotspotImage *self, const char *class, const char *name, uint32_t first)
{
	uint64_t method = foreign_image_allocate(&self->all, 64),
		 rest = foreign_image_allocate(&self->all, HOTSPOT_IMAGE_REST_BYTES + 64);
	uint64_t pool = foreign_image_allocate(&self->all, POOL_BYTES + 8 * 8),
		 holder = foreign_image_allocate(&self->all, 64);
	const char *base = strrchr(class, '/') != NULL ? strrchr(class, '/') + 1 : class;
	g_autofree char *file = g_strconcat(base, ".java", NULL);
	const uint8_t lines[] = {0xff, self->is_new, (uint8_t)(2 * first + self->is_new),
		10 << 3 | 1, 10 << 3 | 1, 0};

	foreign_image_set_pointer(&self->all, method + 8, rest);
	foreign_image_set_pointer(&self->all, rest + 8, pool);
	foreign_image_set(&self->all, rest + 28, 1, 2);
	foreign_image_set(&self->all, rest + 32, 40, 2);
	foreign_image_set(&self->all, rest + 34, 1, 2);
	foreign_image_set(&self->all, rest + 36, 2, 2);
	memcpy(self->all.bytes + rest + HOTSPOT_IMAGE_REST_BYTES + 40, lines, sizeof(lines));
	foreign_image_set_pointer(&self->all, pool + 24, holder);
	foreign_image_set(&self->all, pool + 54, 3, 2);
	foreign_image_set(&self->all, pool + 60, 8, 4);
	foreign_image_set_pointer(&self->all, pool + POOL_BYTES + 8, add_symbol(self, name));
	foreign_image_set_pointer(&self->all, pool + POOL_BYTES + 16, add_symbol(self, "(I)V"));
	foreign_image_set_pointer(&self->all, pool + POOL_BYTES + 24, add_symbol(self, file));
	foreign_image_set_pointer(&self->all, holder + 24, add_symbol(self, class));
	return method;
}

void hotspot_image_add_interpreted(
	HotspotImage *self, uint64_t fp, uint64_t method, uint32_t bytecode, uint64_t caller_pc)
{
	uint64_t rest = foreign_image_word(&self->all, method + 8);

	foreign_image_set_pointer(&self->all, fp - 24, method);
	foreign_image_set(&self->all, fp - 64, rest + HOTSPOT_IMAGE_REST_BYTES + bytecode, 8);
	foreign_image_set_pointer(&self->all, fp - 8, fp + 16);
	foreign_image_set_pointer(&self->all, fp, fp + 0x100);
	foreign_image_set_pointer(&self->all, fp + 8, caller_pc);
}

/* Compiled code at a segment, that calls at its byte 0x40 in `inner`, which is inlined into `outer`
 * at 12. Gives the return address. */
static uint64_t add_compiled(HotspotImage *self, unsigned segment, uint64_t inner, uint64_t outer)
{
	uint64_t blob = HOTSPOT_IMAGE_CODE + segment * SEGMENT + BLOCK_BYTES, code = blob + 0x70;
	uint64_t constant = self->is_new ? foreign_image_allocate(&self->all, 64) : blob + 0x100;
	uint64_t methods = self->is_new ? foreign_image_allocate(&self->all, 32) + 8 : blob + 0x180;
	uint64_t places = constant, scopes = constant + 32;
	uint8_t x = self->is_new;
	/* the caller's scope, the method's number, the instruction and 1 more; the first is none */
	const uint8_t told[] = {x, x, x, x, (uint8_t)(2 + x), (uint8_t)(13 + x), (uint8_t)(3 + x),
		(uint8_t)(1 + x), (uint8_t)(6 + x)};

	for (unsigned i = 0; i < 4; i++)
		self->all.bytes[HOTSPOT_IMAGE_SEGMAP + segment + i] = (uint8_t)i;
	foreign_image_set_pointer(
		&self->all, blob + 8, foreign_image_add_text(&self->all, "nmethod"));
	foreign_image_set(&self->all, blob + 16, FRAME_WORDS, 4);
	foreign_image_set(&self->all, places, 0x20 | UINT64_C(3) << 32, 8);
	foreign_image_set(&self->all, places + 16, 0x45 | UINT64_C(6) << 32, 8);
	memcpy(self->all.bytes + scopes, told, sizeof(told));
	foreign_image_set_pointer(&self->all, methods, inner);
	foreign_image_set_pointer(&self->all, methods + 8, outer);
	if (self->is_new) {
		foreign_image_set(&self->all, blob + 24, code - blob, 4);
		foreign_image_set(&self->all, blob + 28, 8, 4);
		foreign_image_set_pointer(&self->all, blob + 32, methods - 8);
		foreign_image_set_pointer(&self->all, blob + 40, constant);
		foreign_image_set(&self->all, blob + 48, 0, 4);
		foreign_image_set(&self->all, blob + 52, 32, 4);
	} else {
		foreign_image_set_pointer(&self->all, blob + 24, code);
		foreign_image_set(&self->all, blob + 32, places - blob, 4);
		foreign_image_set(&self->all, blob + 36, scopes - blob, 4);
		foreign_image_set_pointer(&self->all, blob + 40, scopes);
		foreign_image_set(&self->all, blob + 48, methods - blob, 4);
	}
	return code + 0x45;
}

void hotspot_image_set_anchor(HotspotImage *self, uint64_t sp, uint64_t fp, uint64_t pc)
{
	foreign_image_set(&self->all, HOTSPOT_IMAGE_THREAD + HOTSPOT_IMAGE_ANCHOR,
		sp != 0 ? FOREIGN_IMAGE_BASE + sp : 0, 8);
	foreign_image_set(&self->all, HOTSPOT_IMAGE_THREAD + HOTSPOT_IMAGE_ANCHOR + 16,
		fp != 0 ? FOREIGN_IMAGE_BASE + fp : 0, 8);
	foreign_image_set(&self->all, HOTSPOT_IMAGE_THREAD + HOTSPOT_IMAGE_ANCHOR + 8,
		pc != 0 ? FOREIGN_IMAGE_BASE + pc : 0, 8);
}

void hotspot_image_build(HotspotImage *self)
{
	uint64_t park = hotspot_image_add_method(self, "java/util/concurrent/Queue", "park", 90);
	uint64_t take = hotspot_image_add_method(self, "java/util/concurrent/Queue", "take", 30);
	uint64_t sell = hotspot_image_add_method(self, "shop/Shop", "sell", 7);
	uint64_t run = hotspot_image_add_method(self, "Later", "run", 50);
	uint64_t compiled = add_compiled(self, 8, take, sell);
	uint64_t end = HOTSPOT_IMAGE_STACK + 0x100 + 16 + FRAME_WORDS * 8;

	hotspot_image_add_interpreted(self, HOTSPOT_IMAGE_STACK + 0x100, park, 25, compiled);
	foreign_image_set_pointer(&self->all, end - 16, end + 0x100);
	foreign_image_set_pointer(&self->all, end - 8, HOTSPOT_IMAGE_INTERPRETER + 0x20);
	hotspot_image_add_interpreted(self, end + 0x100, run, 10, 0x100);
	hotspot_image_set_anchor(self, HOTSPOT_IMAGE_STACK, HOTSPOT_IMAGE_STACK + 0x100,
		HOTSPOT_IMAGE_INTERPRETER + 0x10);
}

void hotspot_image_init(HotspotImage *self, bool is_new)
{
	*self = (HotspotImage){.is_new = is_new};
	foreign_image_init(&self->all, HOTSPOT_IMAGE_BYTES, HOTSPOT_IMAGE_ALLOCATED);
	add_tables(self);
	add_machine(self);
	for (size_t i = 0; i < G_N_ELEMENTS(self->symbols); i++)
		self->symbols[i] = FOREIGN_IMAGE_BASE + HOTSPOT_IMAGE_SYMBOLS + i * 8;
}

void hotspot_image_clear(HotspotImage *self)
{
	foreign_image_clear(&self->all);
}
