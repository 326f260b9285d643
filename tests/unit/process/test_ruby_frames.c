/* SPDX-License-Identifier: MIT */
/* Frames of Ruby 3.1 in memory that the test builds: right, and hostile. */
#include "process/interpreters/ruby_frames.h"
#include "seeds.h"

#include <string.h>

#define BASE UINT64_C(0x30000000)

enum {
	SIZE = 1 << 20,
	PID = 4711,
	OTHER_TID = 4712,
	VM_POINTER = 0x100,
	OBJECT_POINTER = 0x108,
	VERSION = 0x110,
	VM = 0x1000,
	RACTOR = 0x2000,
	THREADS = 0x3000, /* the main one, and the other */
	THREAD_STEP = 0x200,
	CONTEXTS = 0x4000, /* of the two */
	STACKS = 0x10000,
	STACK_STEP = 0x20000,
	FRAME = 64,
	ALLOCATED = 0x60000,
	ATTACHED_KEY = 0x11,
	CLASS_PATH_KEY = 0x23,
	LOOP = 0x123456, /* where instructions are executed */
	TYPE_TOP = 0,
	TYPE_METHOD = 1,
	TYPE_BLOCK = 2,
	TYPE_EVAL = 6,
	TYPE_MAIN = 7,
};

typedef struct {
	uint8_t *bytes;
	uint64_t free;
	const LodeRubyLayout *layout;
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
	set(self, offset, target != 0 ? BASE + target : 0, 8);
}

static uint64_t allocate(Memory *self, size_t size)
{
	uint64_t at = self->free;

	self->free += (size + 15) / 16 * 16;
	g_assert_cmpuint(self->free, <=, SIZE);
	return at;
}

static uint64_t add_object(Memory *self, uint64_t flags, size_t size)
{
	uint64_t at = allocate(self, size);

	set(self, at, flags, 8);
	return at;
}

static uint64_t add_text(Memory *self, const char *text)
{
	const LodeRubyLayout *layout = self->layout;
	size_t n = strlen(text);
	bool is_embedded = n < 24;
	uint64_t at = add_object(self, 5u | (is_embedded ? (uint64_t)n << 14 : 0x2000), 40);
	uint64_t data = at + layout->text_bytes;

	if (!is_embedded) {
		data = allocate(self, n);
		set(self, at + layout->text_length, n, 8);
		set_pointer(self, at + layout->text_pointer, data);
	}
	memcpy(self->bytes + data, text, n);
	return at;
}

/* A class or module with one variable. */
static uint64_t add_class(Memory *self, uint64_t flags, uint64_t key, uint64_t value)
{
	const LodeRubyLayout *layout = self->layout;
	uint64_t at = add_object(self, flags, 40), extension = allocate(self, 64);
	uint64_t table = allocate(self, 56), entries = allocate(self, 48);

	set_pointer(self, at + layout->class_extension, extension);
	set_pointer(self, extension + layout->class_variables, table);
	set(self, table + layout->table_end, 2, 8);
	set_pointer(self, table + layout->table_entries, entries);
	set(self, entries, UINT64_MAX, 8); /* one that was removed */
	set(self, entries + 24 + 8, key, 8);
	set_pointer(self, entries + 24 + 16, value);
	return at;
}

static uint64_t add_named(Memory *self, unsigned type, const char *name)
{
	return add_class(self, type, CLASS_PATH_KEY, add_text(self, name));
}

/* As CRuby encodes them (succ_index_table_create of iseq.c). */
static void encode(const uint32_t *positions, size_t n, uint32_t n_units, uint8_t *out)
{
	uint32_t n_words = (n_units < 54 ? n_units + 8 : 54) / 9;
	uint32_t n_blocks = n_units < 54 ? 0 : (n_units - 54 + 511) / 512;
	size_t rank = 0;

	for (uint32_t j = 0; j < n_words; j++) {
		uint64_t word = 0;
		for (uint32_t i = 0; i < 9; i++) {
			if (rank < n && positions[rank] == j * 9 + i)
				rank++;
			word |= (uint64_t)rank << (7 * i);
		}
		memcpy(out + 8 * j, &word, 8);
	}
	for (uint32_t k = 0; k < n_blocks; k++) {
		uint64_t block[10] = {rank};
		unsigned small = 0;
		for (uint32_t j = 0; j < 8; j++) {
			if (j > 0)
				block[1] |= (uint64_t)small << (9 * (j - 1));
			for (uint32_t i = 0; i < 64; i++)
				if (rank < n && positions[rank] == k * 512 + j * 64 + i + 54) {
					block[2 + j] |= UINT64_C(1) << i;
					rank++;
					small++;
				}
		}
		memcpy(out + n_words * 8 + k * sizeof(block), block, sizeof(block));
	}
}

/* Code of 20 units, whose line is the next from unit 4, and again from unit 10 on. */
static uint64_t add_iseq(
	Memory *self, unsigned type, const char *label, const char *base, uint32_t first_line)
{
	static const uint32_t positions[] = {0, 4, 10};
	const LodeRubyLayout *layout = self->layout;
	uint64_t at = add_object(self, 0x1a | 7u << 12, 40),
		 body = allocate(self, layout->code_bytes);
	uint64_t lines = allocate(self, 3 * 12), table = allocate(self, 64);
	uint64_t path = add_object(self, 7 | 0x2000 | 2 << 15, 40);

	set_pointer(self, at + layout->iseq_body, body);
	set(self, body + layout->code_type, type, 4);
	set(self, body + layout->code_size, 20, 4);
	uint64_t units = allocate(self, 20 * 8);
	set(self, units, LOOP, 8);
	set_pointer(self, body + layout->code_units, units);
	set_pointer(self, path + layout->array_elements, add_text(self, "app.rb"));
	set_pointer(self, body + layout->code_path, path);
	set_pointer(self, body + layout->code_label, add_text(self, label));
	set_pointer(self, body + layout->code_base_label, add_text(self, base));
	set(self, body + layout->code_first_line, (uint64_t)first_line << 1 | 1, 8);
	set_pointer(self, body + layout->code_lines, lines);
	for (uint32_t i = 0; i < 3; i++)
		set(self, lines + i * 12, first_line + 1 + i, 4);
	set(self, body + layout->code_n_lines, 3, 4);
	encode(positions, 3, 20, self->bytes + table);
	set_pointer(self, body + layout->code_positions, table);
	set_pointer(self, body + layout->code_local, at);
	return at;
}

static void set_local(Memory *self, uint64_t iseq, uint64_t method)
{
	uint64_t body;

	memcpy(&body, self->bytes + iseq + self->layout->iseq_body, 8);
	set_pointer(self, body - BASE + self->layout->code_local, method);
}

/* The environment of a method of a class; or of a block in another. */
static uint64_t add_environment(Memory *self, uint64_t owner, uint64_t method, uint64_t outer)
{
	uint64_t at = allocate(self, 64) + 16;

	if (outer != 0) {
		set(self, at - 8, BASE + outer + 1, 8); /* with a mark of the kind */
		return at;
	}
	uint64_t entry = add_object(self, 0x1a | 6u << 12, 48);
	uint64_t special = add_object(self, 0x1a | 2u << 12, 40);
	uint64_t definition = allocate(self, 40);
	set_pointer(self, entry + self->layout->entry_definition, definition);
	set_pointer(self, definition + self->layout->definition_iseq, method);
	set_pointer(self, entry + self->layout->entry_owner, owner);
	set_pointer(self, special + 8, entry);
	set_pointer(self, at - 16, special);
	set(self, at, 2, 8);
	return at;
}

static uint64_t frame_at(const Memory *self, unsigned thread, unsigned from_end)
{
	(void)self;
	return STACKS + (thread + 1) * STACK_STEP - (from_end + 1) * FRAME;
}

/* Frame 0 is the outermost; one without an iseq is a function's in C. */
static void set_frame(Memory *self, unsigned thread, unsigned number, uint64_t iseq, unsigned unit,
	uint64_t environment)
{
	const LodeRubyLayout *layout = self->layout;
	uint64_t at = frame_at(self, thread, number), units = 0;

	memset(self->bytes + at, 0, FRAME);
	if (iseq != 0) {
		uint64_t body;
		memcpy(&body, self->bytes + iseq + layout->iseq_body, 8);
		memcpy(&units, self->bytes + body - BASE + layout->code_units, 8);
		set(self, at + layout->frame_pc, units + 8ul * unit, 8);
	}
	set_pointer(self, at + layout->frame_iseq, iseq);
	set_pointer(self, at + layout->frame_environment, environment);
	set_pointer(self, CONTEXTS + thread * 0x100 + layout->context_frame, at);
}

static void set_threads(Memory *self)
{
	const LodeRubyLayout *layout = self->layout;

	set_pointer(self, VM + layout->main_thread, THREADS);
	set_pointer(self, VM + layout->ractors, RACTOR + layout->ractor_node);
	set_pointer(self, RACTOR + layout->ractor_node, VM + layout->ractors);
	set_pointer(self, RACTOR + layout->threads, THREADS + layout->thread_node);
	set_pointer(
		self, THREADS + layout->thread_node, THREADS + THREAD_STEP + layout->thread_node);
	set_pointer(self, THREADS + THREAD_STEP + layout->thread_node, RACTOR + layout->threads);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t context = CONTEXTS + i * 0x100;
		set_pointer(self, THREADS + i * THREAD_STEP + layout->thread_context, context);
		set(self, THREADS + i * THREAD_STEP + layout->thread_number, PID + i, 4);
		set_pointer(self, context + layout->context_stack, STACKS + i * STACK_STEP);
		set(self, context + layout->context_stack_size, STACK_STEP / 8, 8);
	}
}

/* As a program has them. */
static struct {
	uint64_t main, draw, block, single, eval; /* iseqs */
	uint64_t in_main, in_draw, in_block, in_single;
} code;

static void make_code(Memory *self)
{
	uint64_t object = add_named(self, 2, "Object");
	uint64_t meta = add_class(self, 2 | 0x1000, ATTACHED_KEY, object);
	uint64_t drawing = add_named(self, 2, "Art::Drawing");
	uint64_t of_drawing = add_class(self, 2 | 0x1000, ATTACHED_KEY, drawing);

	set_pointer(self, OBJECT_POINTER, object);
	set_pointer(self, object + self->layout->object_class, meta);
	code.main = add_iseq(self, TYPE_MAIN, "<main>", "<main>", 0);
	code.draw = add_iseq(self, TYPE_METHOD, "draw", "draw", 10);
	code.block = add_iseq(self, TYPE_BLOCK, "block (2 levels) in draw", "draw", 12);
	code.single = add_iseq(self, TYPE_METHOD, "load", "load", 30);
	code.eval = add_iseq(self, TYPE_EVAL, "draw", "draw", 1);
	code.in_main = allocate(self, 64) + 16;
	set(self, code.in_main, 2, 8);
	set_local(self, code.block, code.draw);
	set_local(self, code.eval, code.draw);
	code.in_draw = add_environment(self, drawing, code.draw, 0);
	code.in_block = add_environment(self, 0, 0, add_environment(self, 0, 0, code.in_draw));
	code.in_single = add_environment(self, of_drawing, code.single, 0);
	set_frame(self, 0, 0, 0, 0, 0);
	set_frame(self, 0, 1, code.main, 4, code.in_main);
	set_frame(self, 0, 2, code.draw, 5, code.in_draw);
	set_frame(self, 0, 3, 0, 0, 0);
	set_frame(self, 0, 4, code.block, 20, code.in_block);
	set_frame(self, 0, 5, code.single, 0, code.in_single);
	set_frame(self, 1, 0, code.draw, 11, code.in_draw);
}

#define RIGHT                                                                                      \
	"Art::Drawing.load app.rb:30-33:31, block (2 levels) in Art::Drawing#draw "                \
	"app.rb:12-15:15, "                                                                        \
	"Art::Drawing#draw app.rb:10-13:12, <main> app.rb:1-3:1"

static void *open_frames(Memory *self)
{
	const uint64_t symbols[] = {BASE + VM_POINTER, BASE + OBJECT_POINTER, BASE + VERSION};
	const LodeForeignMemory memory = {read_memory, self, read_parts};

	return lode_ruby_frames_open(symbols, &memory, &self->next_code);
}

static void memory_init(Memory *self)
{
	*self = (Memory){.bytes = g_malloc0(SIZE),
		.free = ALLOCATED,
		.layout = &lode_ruby_layouts[0],
		.look = g_new0(LodeScriptLook, 1),
		.codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode)),
		.next_code = 5,
		.now_ns = 1000000000};
	strcpy((char *)self->bytes + VERSION, "3.2.0");
	g_assert_null(open_frames(self));
	strcpy((char *)self->bytes + VERSION, "3.1.2");
	set_pointer(self, VM_POINTER, VM);
	set_threads(self);
	make_code(self);
	self->frames = open_frames(self);
	g_assert_nonnull(self->frames);
	g_assert_cmpuint(lode_ruby_frames_loop(self->frames), ==, 0);
}

static void memory_clear(Memory *self)
{
	lode_ruby_frames_close(self->frames);
	g_array_unref(self->codes);
	g_free(self->look);
	g_free(self->bytes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Memory, memory_clear)

static LodeFramesOutcome look_at(Memory *self, pid_t tid)
{
	self->now_ns += 1000000000;
	const LodeFramesThread thread = {PID, tid, self->now_ns};

	return lode_ruby_frames_read(self->frames, &thread, self->look, self->codes);
}

static LodeFramesOutcome look(Memory *self)
{
	return look_at(self, PID);
}

/* "FUNCTION FILE:FIRST-LAST:LINE", the innermost first, by commas. */
static char *chain(Memory *self)
{
	GString *out = g_string_new(NULL);

	for (uint32_t i = 0; i < self->look->n_frames; i++) {
		const LodeScriptFrame *frame = &self->look->frames[i];
		for (guint k = 0; k < self->codes->len; k++) {
			const LodeScriptCode *one = &g_array_index(self->codes, LodeScriptCode, k);
			if (one->number != frame->code)
				continue;
			g_assert_cmpstr(one->language, ==, "ruby");
			g_string_append_printf(out, "%s%s %s:%u-%u:%u", i > 0 ? ", " : "",
				one->function, one->file, one->first_line, one->last_line,
				frame->line);
		}
	}
	return g_string_free(out, FALSE);
}

#define ASSERT_CHAIN(memory, expected)                                                             \
	do {                                                                                       \
		g_autofree char *found = chain(memory);                                            \
		g_assert_cmpstr(found, ==, expected);                                              \
	} while (0)

static void test_chain(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory, RIGHT);
	g_assert_cmpuint(memory.codes->len, ==, 4);
	g_assert_cmpuint(lode_ruby_frames_loop(memory.frames), ==, LOOP);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.codes->len, ==, 4);
	/* the text of eval, in a method */
	set_frame(&memory, 0, 3, code.eval, 1, code.in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory,
		"(eval) app.rb:1-4:2, Art::Drawing#draw app.rb:10-13:12, <main> app.rb:1-3:1");
	/* what is below all before the program begins */
	set_frame(
		&memory, 0, 1, add_iseq(&memory, TYPE_TOP, "<main>", "<main>", 0), 4, code.in_main);
	set_frame(&memory, 0, 2, code.draw, 5, code.in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory, "Art::Drawing#draw app.rb:10-13:12");
	/* other code where some was */
	uint64_t other = add_iseq(&memory, TYPE_METHOD, "undo", "undo", 50);
	set_local(&memory, other, code.single);
	memcpy(memory.bytes + code.single, memory.bytes + other, 40);
	set_frame(&memory, 0, 1, code.single, 1, code.in_single);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory, "Art::Drawing.undo app.rb:50-53:51");
}

/* An environment that another method has by now names none; one that is never found is done
 * without.
 */
static void test_classes(void)
{
	g_auto(Memory) memory;
	unsigned n_torn = 0;

	memory_init(&memory);
	for (unsigned i = 2; i < 6; i++)
		set_frame(&memory, 0, i, 0, 0, 0);
	set_frame(&memory, 0, 6, code.draw, 5, code.in_single);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	set_frame(&memory, 0, 6, code.draw, 5, code.in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory, "Art::Drawing#draw app.rb:10-13:12, <main> app.rb:1-3:1");
	set_frame(&memory, 0, 6, code.single, 5, code.in_draw);
	while (look(&memory) == LODE_FRAMES_TORN)
		g_assert_cmpuint(++n_torn, <, 1000);
	ASSERT_CHAIN(&memory, "load app.rb:30-33:32, <main> app.rb:1-3:1");
}

static void test_threads(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	g_assert_cmpint(look_at(&memory, OTHER_TID), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory, "Art::Drawing#draw app.rb:10-13:13");
	g_assert_cmpint(look_at(&memory, OTHER_TID + 1), ==, LODE_FRAMES_NONE);
	/* one that a process had which was forked has another number */
	set(&memory, THREADS + memory.layout->thread_number, 1, 4);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	/* it ended; lists in a circle end, too */
	set(&memory, THREADS + THREAD_STEP + memory.layout->thread_number, 0, 4);
	set_pointer(&memory, THREADS + memory.layout->thread_node,
		THREADS + memory.layout->thread_node);
	g_assert_cmpint(look_at(&memory, OTHER_TID), ==, LODE_FRAMES_NONE);
	/* no Ruby runs */
	set_frame(&memory, 0, 0, 0, 0, 0);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE);
	set(&memory, VM_POINTER, 0, 8);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE);
}

static void test_deep(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	for (unsigned i = 2; i < 1000; i++)
		set_frame(&memory, 0, i, i % 2 == 0 ? code.draw : 0, 5, code.in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->n_frames, ==, LODE_SCRIPT_MAX_FRAMES);
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_IS_CUT);
	for (unsigned i = 2; i < 100; i++)
		set_frame(&memory, 0, i, i % 2 == 0 ? code.draw : 0, 5, code.in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->n_frames, ==, 50);
	g_assert_cmpuint(memory.look->flags, ==, 0);
}

static void test_hostile(void)
{
	g_auto(Memory) memory;
	static char name[1 << 16];

	memory_init(&memory);
	const LodeRubyLayout *layout = memory.layout;
	memset(name, 'n', sizeof(name) - 1);
	name[3] = '\xff';
	set_frame(&memory, 0, 1, add_iseq(&memory, TYPE_METHOD, name, name, 3), 1, code.in_draw);
	while (look(&memory) == LODE_FRAMES_TORN && memory.codes->len < 1000)
		;
	g_assert_cmpuint(memory.look->n_frames, ==, 1);
	const LodeScriptCode *told = &g_array_index(memory.codes, LodeScriptCode, 0);
	g_assert_true(g_utf8_validate(told->function, -1, NULL));
	g_assert_cmpuint(strlen(told->function), <, 4000);
	/* pc outside the code, no iseq, another object */
	set_frame(&memory, 0, 1, code.draw, 21, code.in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_WAS_TORN);
	set_frame(&memory, 0, 1, code.draw, 1, code.in_draw);
	set_pointer(&memory, frame_at(&memory, 0, 1) + layout->frame_iseq, STACKS);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	/* stacks that are none */
	set_frame(&memory, 0, 1, code.draw, 1, code.in_draw);
	const uint64_t sizes[] = {0, 1, UINT64_MAX, UINT64_MAX / 8, 1 << 23};
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		set(&memory, CONTEXTS + layout->context_stack_size, sizes[i], 8);
		g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	}
}

/* Whatever changes, no more than memory that is there is read, and what is told is sound. */
static void test_random(void)
{
	static const struct {
		uint64_t at, size;
	} places[] = {{VM, 64}, {THREADS, 128}, {CONTEXTS, 32},
		{STACKS + STACK_STEP - 6 * FRAME, 6 * FRAME}, {ALLOCATED, 6000}};
	g_auto(Memory) memory;

	memory_init(&memory);
	g_autofree uint8_t *right = g_memdup2(memory.bytes, SIZE);
	for (unsigned round = random_rounds(3000, 100000); round > 0; round--) {
		for (int i = random_int_range(1, 6); i-- > 0;) {
			size_t which = (size_t)random_int_range(0, G_N_ELEMENTS(places));
			uint64_t at = places[which].at +
			              (uint64_t)random_int_range(0, (int)places[which].size);
			if (random_bit())
				memory.bytes[at] = (uint8_t)random_int();
			else
				set_pointer(&memory, at & ~UINT64_C(7),
					(uint64_t)random_int_range(0, SIZE));
		}
		LodeFramesOutcome outcome = look_at(&memory, random_bit() ? PID : OTHER_TID);
		g_assert_cmpint(outcome == LODE_FRAMES_FOUND, ==, memory.look->n_frames > 0);
		for (uint32_t i = 0; i < memory.look->n_frames; i++)
			g_assert_cmpuint(memory.look->frames[i].line - 1, <, LODE_SCRIPT_MAX_LINE);
		memcpy(memory.bytes, right, SIZE);
	}
	/* what it had believed is forgotten with the process */
	lode_ruby_frames_close(memory.frames);
	memory.frames = open_frames(&memory);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory, RIGHT);
}

/* Positions as CRuby encodes them, of code of any size. */
static void test_positions(void)
{
	for (unsigned round = random_rounds(300, 10000); round > 0; round--) {
		uint32_t n_units = (uint32_t)random_int_range(1, random_bit() ? 60 : 2000);
		size_t size = lode_ruby_positions_bytes(n_units);
		g_autofree uint8_t *table = g_malloc0(MAX(size, 1));
		g_autoptr(GArray) expected = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		int density = random_int_range(1, 20);
		for (uint32_t i = 0; i < n_units; i++)
			if (i == 0 || random_int_range(0, density) == 0)
				g_array_append_val(expected, i);
		encode((const uint32_t *)(const void *)expected->data, expected->len, n_units,
			table);
		lode_ruby_positions_read(table, n_units, expected->len, found);
		g_assert_cmpuint(found->len, ==, expected->len);
		g_assert_true(memcmp(found->data, expected->data, expected->len * 4ul) == 0);
		g_array_set_size(found, 0);
		lode_ruby_positions_read(table, n_units, 1, found);
		g_assert_cmpuint(found->len, ==, 1);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/process/ruby-frames/chain", test_chain);
	g_test_add_func("/process/ruby-frames/classes", test_classes);
	g_test_add_func("/process/ruby-frames/threads", test_threads);
	g_test_add_func("/process/ruby-frames/deep", test_deep);
	g_test_add_func("/process/ruby-frames/hostile", test_hostile);
	add_random_test("/process/ruby-frames/random", test_random,
		"R02S1d0f6b3e7c9a4455a8e6d2c0b1f3a497", NULL);
	add_random_test("/process/ruby-frames/positions", test_positions,
		"R02S88c1f0d2a3b4c5d6e7f8091a2b3c4d5e", NULL);
	return g_test_run();
}
