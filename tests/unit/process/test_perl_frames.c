/* SPDX-License-Identifier: MIT */
/* Frames of Perl 5.36 in memory that the test builds: right, half made, and hostile. */
#include "process/interpreters/perl_frames.h"

#include "seeds.h"

#include <string.h>

#define BASE UINT64_C(0x20000000)

enum {
	SIZE = 1 << 20,
	PID = 4711,
	POINTER = 0x100, /* PL_curinterp */
	BYTES = 0x110,   /* PL_interp_size */
	NAMES = 0x200,   /* PL_op_name */
	INTERPRETER = 0x2000,
	STACK = 0x3000,
	OTHER_STACK = 0x3100,
	CONTEXTS = 0x10000,
	OTHER_CONTEXTS = 0x80000,
	MOST_CONTEXTS = 1100,
	ALLOCATED = 0xa0000,
	LEAVE_SUB = 185,
	LEAVE = 199,
	CONTEXT_SUB = 9,
	CONTEXT_EVAL = 11,
	CONTEXT_TRY = 11 | 0x40,
	CONTEXT_BLOCK = 2,
	REQUIRE = 342,
};

typedef struct {
	uint8_t *bytes;
	uint64_t free;
	const LodePerlLayout *layout;
	void *frames;
	LodeScriptLook *look;
	GArray *codes; /* LodeScriptCode, all that were told */
	uint32_t next_code;
	uint64_t now_ns, moved_to; /* the statement that the second reading finds, 0: the same */
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
	set(self, offset, target != 0 ? BASE + target : 0, 8);
}

static bool read_parts(void *data, const LodeForeignPart *parts, size_t n)
{
	Memory *self = data;

	for (size_t i = 0; i < n; i++) {
		if (i == n - 1 && self->moved_to != 0)
			set_pointer(self, INTERPRETER + self->layout->statement, self->moved_to);
		if (read_memory(self, parts[i].address, parts[i].to, parts[i].size) !=
			parts[i].size)
			return false;
	}
	return true;
}

static uint64_t allocate(Memory *self, size_t size)
{
	uint64_t at = self->free;

	self->free += (size + 15) / 16 * 16;
	g_assert_cmpuint(self->free, <=, SIZE);
	return at;
}

static uint64_t add_text(Memory *self, const char *text)
{
	uint64_t at = allocate(self, strlen(text) + 1);

	strcpy((char *)self->bytes + at, text);
	return at;
}

static uint64_t add_key(Memory *self, const char *text)
{
	uint64_t at = allocate(self, self->layout->key_text + strlen(text) + 2);

	set(self, at + self->layout->key_length, strlen(text), 4);
	strcpy((char *)self->bytes + at + self->layout->key_text, text);
	return at;
}

/* An SV of a type with a body. */
static uint64_t add_value(Memory *self, uint32_t flags, uint64_t body)
{
	uint64_t at = allocate(self, 24);

	set_pointer(self, at + self->layout->body, body);
	set(self, at + self->layout->flags, flags, 4);
	return at;
}

static uint64_t add_package(Memory *self, const char *name)
{
	uint64_t body = allocate(self, 88);

	set_pointer(self, body + self->layout->stash_name, add_key(self, name));
	return add_value(self, 12 | 0x2000000, body);
}

/* The root of a tree; statements are put below by add_statement(). */
static uint64_t add_root(Memory *self, unsigned type)
{
	uint64_t at = allocate(self, 96);

	set(self, at + self->layout->operation_type, type, 2);
	return at;
}

static uint64_t add_statement(Memory *self, uint64_t root, const char *file, uint32_t line)
{
	const LodePerlLayout *layout = self->layout;
	uint64_t at = allocate(self, layout->statement_bytes), last = allocate(self, 40);

	set(self, at + layout->operation_type,
		(uint64_t)(layout->next_state | layout->more_siblings << 8), 2);
	set_pointer(self, at + layout->operation_sibling, last);
	set(self, last + layout->operation_type, 1, 2);
	set_pointer(self, last + layout->operation_sibling, root);
	set(self, at + layout->statement_line, line, 4);
	set_pointer(self, at + layout->statement_file, add_text(self, file));
	set(self, at + layout->statement_number, at, 4);
	return at;
}

static uint64_t add_sub(
	Memory *self, const char *package, const char *name, uint64_t root, uint64_t start)
{
	const LodePerlLayout *layout = self->layout;
	uint64_t body = allocate(self, layout->sub_bytes), glob = allocate(self, 64);

	set_pointer(self, glob + layout->glob_name, add_key(self, name));
	set_pointer(self, glob + layout->glob_stash, add_package(self, package));
	set_pointer(self, body + layout->sub_name, add_value(self, 9, glob));
	set_pointer(self, body + layout->sub_root, root);
	set_pointer(self, body + layout->sub_start, start);
	return add_value(self, 13, body);
}

static void set_statement(Memory *self, uint64_t statement)
{
	set_pointer(self, INTERPRETER + self->layout->statement, statement);
}

/* Context 0 is the outermost; those of a stack end with it. */
static void set_context(Memory *self, int number, unsigned kind, uint64_t sub, uint64_t statement)
{
	const LodePerlLayout *layout = self->layout;
	uint64_t at = CONTEXTS + (uint64_t)number * layout->context_bytes;

	set(self, at + layout->context_kind, kind, 1);
	set(self, at + layout->context_operation, REQUIRE << 7, 2);
	set_pointer(self, at + layout->context_statement, statement);
	set_pointer(self, at + layout->context_sub, sub);
	set(self, STACK + layout->context_index, (uint32_t)number, 4);
}

/* As a program has them: the main program calls A::outer, and that A::inner. */
static struct {
	uint64_t main, outer, inner;                       /* roots */
	uint64_t main_at, outer_first, outer_at, inner_at; /* statements */
	uint64_t outer_sub, inner_sub;
} code;

static void make_code(Memory *self)
{
	code.main = add_root(self, LEAVE);
	code.outer = add_root(self, LEAVE_SUB);
	code.inner = add_root(self, LEAVE_SUB);
	code.main_at = add_statement(self, code.main, "app.pl", 40);
	code.outer_first = add_statement(self, code.outer, "app.pl", 10);
	code.outer_at = add_statement(self, code.outer, "app.pl", 12);
	code.inner_at = add_statement(self, code.inner, "lib/A.pm", 21);
	code.outer_sub = add_sub(self, "A", "outer", code.outer, code.outer_first);
	code.inner_sub = add_sub(self, "A", "inner", code.inner, code.inner_at);
	set_pointer(self, INTERPRETER + self->layout->main_root, code.main);
	set_context(self, 0, 0, 0, 0);
	set_context(self, 1, CONTEXT_BLOCK, 0, code.main_at);
	set_context(self, 2, CONTEXT_SUB, code.outer_sub, code.main_at);
	set_context(self, 3, CONTEXT_TRY, 0, code.outer_at);
	set_context(self, 4, CONTEXT_SUB, code.inner_sub, code.outer_at);
	set_statement(self, code.inner_at);
}

static void memory_init(Memory *self)
{
	const uint64_t symbols[] = {BASE + POINTER, BASE + BYTES, BASE + NAMES};
	const LodeForeignMemory memory = {read_memory, self, read_parts};
	const LodePerlLayout *layout = &lode_perl_layouts[0];

	*self = (Memory){.bytes = g_malloc0(SIZE),
		.free = ALLOCATED,
		.layout = layout,
		.look = g_new0(LodeScriptLook, 1),
		.codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode)),
		.next_code = 5,
		.now_ns = 1000000000};
	const struct {
		unsigned number;
		const char *name;
	} operations[] = {{layout->next_state, "nextstate"}, {layout->debug_state, "dbstate"},
		{layout->enter_eval, "entereval"}, {layout->leave_eval, "leaveeval"},
		{layout->n_operations, "freed"}};
	set_pointer(self, POINTER, INTERPRETER);
	set(self, BYTES, layout->interpreter_size, 2);
	g_assert_null(lode_perl_frames_open(symbols, &memory, &self->next_code));
	for (size_t i = 0; i < G_N_ELEMENTS(operations); i++)
		set_pointer(
			self, NAMES + 8 * operations[i].number, add_text(self, operations[i].name));
	set(self, BYTES, layout->interpreter_size + 1u, 2);
	g_assert_null(lode_perl_frames_open(symbols, &memory, &self->next_code));
	set(self, BYTES, layout->interpreter_size, 2);
	set_pointer(self, INTERPRETER + layout->stack_info, STACK);
	set_pointer(self, STACK + layout->contexts, CONTEXTS);
	set(self, STACK + layout->context_most, MOST_CONTEXTS, 4);
	make_code(self);
	self->frames = lode_perl_frames_open(symbols, &memory, &self->next_code);
	g_assert_nonnull(self->frames);
}

static void memory_clear(Memory *self)
{
	lode_perl_frames_close(self->frames);
	g_array_unref(self->codes);
	g_free(self->look);
	g_free(self->bytes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Memory, memory_clear)

static LodeFramesOutcome look(Memory *self)
{
	const LodeFramesThread thread = {PID, PID, ++self->now_ns};

	return lode_perl_frames_read(self->frames, &thread, self->look, self->codes);
}

/* "FUNCTION FILE:FIRST:LINE", the innermost first, by commas. */
static char *chain(Memory *self)
{
	GString *out = g_string_new(NULL);

	for (uint32_t i = 0; i < self->look->n_frames; i++) {
		const LodeScriptFrame *frame = &self->look->frames[i];
		for (guint k = 0; k < self->codes->len; k++) {
			const LodeScriptCode *one = &g_array_index(self->codes, LodeScriptCode, k);
			if (one->number != frame->code)
				continue;
			g_assert_cmpstr(one->language, ==, "perl");
			g_assert_cmpuint(frame->line, <=, one->last_line);
			g_string_append_printf(out, "%s%s %s:%u:%u", i > 0 ? ", " : "",
				one->function, one->file, one->first_line, frame->line);
		}
	}
	return g_string_free(out, FALSE);
}

#define ASSERT_CHAIN(memory, expected)                                                             \
	do {                                                                                       \
		g_assert_cmpint(look(memory), ==, LODE_FRAMES_FOUND);                              \
		g_autofree char *found = chain(memory);                                            \
		g_assert_cmpstr(found, ==, expected);                                              \
	} while (0)

static void test_chain(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
	g_assert_cmpuint(memory.codes->len, ==, 3);
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
	g_assert_cmpuint(memory.codes->len, ==, 3);
	/* a later line of it: it is told again */
	set_context(&memory, 3, CONTEXT_BLOCK, 0, code.outer_at);
	set_statement(&memory, add_statement(&memory, code.outer, "app.pl", 17));
	ASSERT_CHAIN(&memory, "A::outer app.pl:10:17, <main> app.pl:1:40");
	g_assert_cmpuint(memory.codes->len, ==, 4);
	/* another thread is not Perl's first interpreter's */
	const LodeFramesThread other = {PID, PID + 1, memory.now_ns};
	g_assert_cmpint(lode_perl_frames_read(memory.frames, &other, memory.look, memory.codes), ==,
		LODE_FRAMES_NONE);
	set_pointer(&memory, POINTER, 0);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE);
}

/* The statement changes while the contexts are read. */
static void test_moments(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	/* it was of the caller before the call */
	set_statement(&memory, code.outer_at);
	memory.moved_to = code.inner_at;
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
	/* and is again, after it: the sub's last known line */
	set_statement(&memory, code.outer_at);
	memory.moved_to = code.outer_at;
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
	/* a context without its sub is being made or removed */
	set_context(&memory, 4, CONTEXT_SUB, 0, code.outer_at);
	ASSERT_CHAIN(&memory, "A::outer app.pl:10:12, <main> app.pl:1:40");
	/* outside the innermost, what does not fit is torn */
	set_context(&memory, 2, CONTEXT_SUB, code.inner_sub, code.main_at);
	set_context(&memory, 4, CONTEXT_SUB, code.inner_sub, code.outer_at);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_WAS_TORN);
	g_assert_cmpuint(memory.look->n_frames, ==, 0);
}

static void test_files(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	uint64_t root = add_root(&memory, memory.layout->leave_eval);
	uint64_t statement = add_statement(&memory, root, "lib/B.pm", 3);
	uint64_t made = add_statement(&memory, root, "(eval 1713)", 2);
	set_context(&memory, 4, CONTEXT_EVAL, 0, code.outer_at);
	set_statement(&memory, statement);
	ASSERT_CHAIN(&memory, "<required> lib/B.pm:1:3, A::outer app.pl:10:12, <main> app.pl:1:40");
	set_statement(&memory, made);
	ASSERT_CHAIN(&memory, "(eval) (eval):1:2, A::outer app.pl:10:12, <main> app.pl:1:40");
	/* while it is compiled, and below code that the compiler runs */
	uint64_t compiling = INTERPRETER + memory.layout->compiling;
	set(&memory, compiling + memory.layout->statement_line, 7, 4);
	set_pointer(
		&memory, compiling + memory.layout->statement_file, add_text(&memory, "lib/B.pm"));
	set_statement(&memory, compiling);
	ASSERT_CHAIN(&memory, "<required> lib/B.pm:1:7, A::outer app.pl:10:12, <main> app.pl:1:40");
	set_context(&memory, 2, CONTEXT_SUB, code.outer_sub, compiling);
	set_context(&memory, 4, CONTEXT_EVAL, 0, code.outer_at);
	ASSERT_CHAIN(&memory, "<required> lib/B.pm:1:7, A::outer app.pl:10:12");
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_IS_CUT);
}

/* What Perl calls by itself has a stack of its own. */
static void test_stacks(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	const LodePerlLayout *layout = memory.layout;
	set_context(&memory, 3, CONTEXT_BLOCK, 0, code.outer_at);
	set_pointer(&memory, OTHER_STACK + layout->contexts, OTHER_CONTEXTS);
	set_pointer(&memory, OTHER_STACK + layout->previous_info, STACK);
	set(&memory, OTHER_STACK + layout->context_most, 30, 4);
	set(&memory, OTHER_STACK + layout->context_index, 0, 4);
	set(&memory, OTHER_CONTEXTS + layout->context_kind, CONTEXT_SUB, 1);
	set_pointer(&memory, OTHER_CONTEXTS + layout->context_sub, code.inner_sub);
	set_pointer(&memory, OTHER_CONTEXTS + layout->context_statement, code.outer_at);
	set_pointer(&memory, INTERPRETER + layout->stack_info, OTHER_STACK);
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
	/* of none the end is found */
	set_pointer(&memory, STACK + layout->previous_info, OTHER_STACK);
	g_assert_cmpint(look(&memory), !=, LODE_FRAMES_NONE);
}

static void test_deep(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	for (int i = 3; i < 1000; i++)
		set_context(&memory, i, CONTEXT_SUB, code.outer_sub, code.outer_at);
	set_statement(&memory, code.outer_first);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->n_frames, ==, LODE_SCRIPT_MAX_FRAMES);
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_IS_CUT);
	g_assert_cmpuint(memory.look->frames[0].line, ==, 10);
	g_assert_cmpuint(memory.look->frames[127].line, ==, 12);
}

static void test_hostile(void)
{
	g_auto(Memory) memory;
	static char name[1 << 16];

	memory_init(&memory);
	const LodePerlLayout *layout = memory.layout;
	memset(name, 'n', sizeof(name) - 1);
	name[3] = '\xff';
	uint64_t start = add_statement(&memory, code.inner, "\xc3(", 21);
	set_context(&memory, 4, CONTEXT_SUB, add_sub(&memory, "\xe2\x82", name, code.inner, start),
		code.outer_at);
	set_statement(&memory, start);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	for (guint i = 0; i < memory.codes->len; i++) {
		const LodeScriptCode *one = &g_array_index(memory.codes, LodeScriptCode, i);
		g_assert_true(g_utf8_validate(one->function, -1, NULL));
		g_assert_true(g_utf8_validate(one->file, -1, NULL));
		g_assert_cmpuint(strlen(one->function), <, 2000);
	}
	/* siblings in a circle, lines of none, stacks without bounds */
	uint64_t circle = add_statement(&memory, code.inner, "a.pl", 5);
	set_pointer(&memory, circle + layout->operation_sibling, circle);
	set_statement(&memory, circle);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	set(&memory, start + layout->statement_line, UINT32_MAX, 4);
	set_statement(&memory, start);
	g_assert_cmpint(look(&memory), !=, LODE_FRAMES_NONE);
	const uint32_t indices[] = {MOST_CONTEXTS + 1, UINT32_MAX - 1, INT32_MAX, 1u << 31};
	for (size_t i = 0; i < G_N_ELEMENTS(indices); i++) {
		set(&memory, STACK + layout->context_index, indices[i], 4);
		g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	}
	set(&memory, STACK + layout->context_most, INT32_MAX, 4);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
}

/* Whatever changes, no more than memory that is there is read, and what is told is sound. */
static void test_random(void)
{
	static const struct {
		uint64_t at, size;
	} places[] = {{INTERPRETER + 192, 64}, {STACK, 64}, {CONTEXTS, 640}, {ALLOCATED, 4096}};
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
		LodeFramesOutcome outcome = look(&memory);
		g_assert_cmpint(outcome == LODE_FRAMES_FOUND, ==, memory.look->n_frames > 0);
		for (uint32_t i = 0; i < memory.look->n_frames; i++)
			g_assert_cmpuint(memory.look->frames[i].line - 1, <, LODE_SCRIPT_MAX_LINE);
		memcpy(memory.bytes, right, SIZE);
	}
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/process/perl-frames/chain", test_chain);
	g_test_add_func("/process/perl-frames/moments", test_moments);
	g_test_add_func("/process/perl-frames/files", test_files);
	g_test_add_func("/process/perl-frames/stacks", test_stacks);
	g_test_add_func("/process/perl-frames/deep", test_deep);
	g_test_add_func("/process/perl-frames/hostile", test_hostile);
	add_random_test("/process/perl-frames/random", test_random,
		"R02S5f1c0d3b7a9e44c2b8d6e0f1a2b3c4d5", NULL);
	return g_test_run();
}
