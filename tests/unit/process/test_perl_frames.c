/* SPDX-License-Identifier: MIT */
/* Frames of Perl 5.36 in memory that the test builds: right, half made, and hostile. */
#include "perl_image.h"
#include "seeds.h"

#include <string.h>

typedef struct {
	PerlImage image;
	void *frames;
	LodeScriptLook *look;
	GArray *codes; /* LodeScriptCode, all that were told */
	uint32_t next_code;
	uint64_t now_ns, moved_to; /* the statement that the second reading finds, 0: the same */
} Memory;

static size_t read_memory(void *data, uint64_t address, void *to, size_t size)
{
	const LodeForeignMemory *memory = &((Memory *)data)->image.all.memory;

	return memory->read(memory->data, address, to, size);
}

static bool read_parts(void *data, const LodeForeignPart *parts, size_t n)
{
	Memory *self = data;
	const LodeForeignMemory *memory = &self->image.all.memory;

	if (!memory->read_parts(memory->data, parts, n - 1))
		return false;
	if (self->moved_to != 0)
		perl_image_set_statement(&self->image, self->moved_to);
	return memory->read_parts(memory->data, parts + n - 1, 1);
}

static void memory_init(Memory *self)
{
	const LodeForeignMemory memory = {read_memory, self, read_parts};

	*self = (Memory){.look = g_new0(LodeScriptLook, 1),
		.codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode)),
		.next_code = 5,
		.now_ns = 1000000000};
	perl_image_init(&self->image);
	self->frames = lode_perl_frames_open(self->image.symbols, &memory, &self->next_code);
	g_assert_nonnull(self->frames);
}

static void memory_clear(Memory *self)
{
	lode_perl_frames_close(self->frames);
	g_array_unref(self->codes);
	g_free(self->look);
	perl_image_clear(&self->image);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Memory, memory_clear)

static LodeFramesOutcome look(Memory *self)
{
	const LodeFramesThread thread = {PERL_IMAGE_PID, PERL_IMAGE_PID, ++self->now_ns};

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
	PerlImage *image = &memory.image;
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
	g_assert_cmpuint(memory.codes->len, ==, 3);
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
	g_assert_cmpuint(memory.codes->len, ==, 3);
	/* a later line of it: it is told again */
	perl_image_set_context(image, 3, PERL_BLOCK, 0, image->outer_at);
	perl_image_set_statement(
		image, perl_image_add_statement(image, image->outer, "app.pl", 17));
	ASSERT_CHAIN(&memory, "A::outer app.pl:10:17, <main> app.pl:1:40");
	g_assert_cmpuint(memory.codes->len, ==, 4);
	/* another thread is not Perl's first interpreter's */
	const LodeFramesThread other = {PERL_IMAGE_PID, PERL_IMAGE_PID + 1, memory.now_ns};
	g_assert_cmpint(lode_perl_frames_read(memory.frames, &other, memory.look, memory.codes), ==,
		LODE_FRAMES_NONE);
	foreign_image_set_pointer(&image->all, PERL_IMAGE_POINTER, 0);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE);
}

/* The statement changes while the contexts are read. */
static void test_moments(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	PerlImage *image = &memory.image;
	/* it was of the caller before the call */
	perl_image_set_statement(image, image->outer_at);
	memory.moved_to = image->inner_at;
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
	/* and is again, after it: the sub's last known line */
	perl_image_set_statement(image, image->outer_at);
	memory.moved_to = image->outer_at;
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
	/* a context without its sub is being made or removed */
	perl_image_set_context(image, 4, PERL_SUB, 0, image->outer_at);
	ASSERT_CHAIN(&memory, "A::outer app.pl:10:12, <main> app.pl:1:40");
	/* outside the innermost, what does not fit is torn */
	perl_image_set_context(image, 2, PERL_SUB, image->inner_sub, image->main_at);
	perl_image_set_context(image, 4, PERL_SUB, image->inner_sub, image->outer_at);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_WAS_TORN);
	g_assert_cmpuint(memory.look->n_frames, ==, 0);
}

/* Statements at the beginning of blocks, which are executed no more: of the operation that runs,
 * and of one that called. */
static void test_blocks(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	PerlImage *image = &memory.image;
	uint64_t inside = perl_image_add_block(image, image->inner_at, 23, 0);
	perl_image_set_operation(image, inside);
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:23, A::outer app.pl:10:12, <main> app.pl:1:40");
	uint64_t call = perl_image_add_block(image, image->outer_at, 14, image->inner);
	perl_image_set_return(image, 4, image->inner);
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:23, A::outer app.pl:10:14, <main> app.pl:1:40");
	/* the operation is already another statement's */
	perl_image_set_operation(image, call);
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:14, <main> app.pl:1:40");
	/* outside the block, and none */
	perl_image_set_operation(image, image->inner_at);
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:14, <main> app.pl:1:40");
	perl_image_set_operation(image, 0);
	perl_image_set_return(image, 4, image->main);
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
}

/* A sub begins at the lowest line of its first statement, whose own may be a later one. */
static void test_first_line(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	PerlImage *image = &memory.image;
	perl_image_set_operation(image, perl_image_add_block(image, image->inner_at, 18, 0));
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:18:18, A::outer app.pl:10:12, <main> app.pl:1:40");
}

static void test_files(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	PerlImage *image = &memory.image;
	uint64_t root = perl_image_add_root(image, image->layout->leave_eval);
	uint64_t statement = perl_image_add_statement(image, root, "lib/B.pm", 3);
	uint64_t made = perl_image_add_statement(image, root, "(eval 1713)", 2);
	perl_image_set_context(image, 4, PERL_EVAL, 0, image->outer_at);
	perl_image_set_statement(image, statement);
	ASSERT_CHAIN(&memory, "<required> lib/B.pm:1:3, A::outer app.pl:10:12, <main> app.pl:1:40");
	perl_image_set_statement(image, made);
	ASSERT_CHAIN(&memory, "(eval) (eval):1:2, A::outer app.pl:10:12, <main> app.pl:1:40");
	/* while it is compiled, and below code that the compiler runs */
	uint64_t compiling = PERL_IMAGE_INTERPRETER + image->layout->compiling;
	foreign_image_set(&image->all, compiling + image->layout->statement_line, 7, 4);
	foreign_image_set_pointer(&image->all, compiling + image->layout->statement_file,
		foreign_image_add_text(&image->all, "lib/B.pm"));
	perl_image_set_statement(image, compiling);
	ASSERT_CHAIN(&memory, "<required> lib/B.pm:1:7, A::outer app.pl:10:12, <main> app.pl:1:40");
	perl_image_set_context(image, 2, PERL_SUB, image->outer_sub, compiling);
	perl_image_set_context(image, 4, PERL_EVAL, 0, image->outer_at);
	ASSERT_CHAIN(&memory, "<required> lib/B.pm:1:7, A::outer app.pl:10:12");
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_IS_CUT);
}

/* What Perl calls by itself has a stack of its own. */
static void test_stacks(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	PerlImage *image = &memory.image;
	const LodePerlLayout *layout = image->layout;
	perl_image_set_context(image, 3, PERL_BLOCK, 0, image->outer_at);
	foreign_image_set_pointer(
		&image->all, PERL_IMAGE_OTHER_STACK + layout->contexts, PERL_IMAGE_OTHER_CONTEXTS);
	foreign_image_set_pointer(
		&image->all, PERL_IMAGE_OTHER_STACK + layout->previous_info, PERL_IMAGE_STACK);
	foreign_image_set(&image->all, PERL_IMAGE_OTHER_STACK + layout->context_most, 30, 4);
	foreign_image_set(&image->all, PERL_IMAGE_OTHER_STACK + layout->context_index, 0, 4);
	foreign_image_set(
		&image->all, PERL_IMAGE_OTHER_CONTEXTS + layout->context_kind, PERL_SUB, 1);
	foreign_image_set_pointer(
		&image->all, PERL_IMAGE_OTHER_CONTEXTS + layout->context_sub, image->inner_sub);
	foreign_image_set_pointer(&image->all,
		PERL_IMAGE_OTHER_CONTEXTS + layout->context_statement, image->outer_at);
	foreign_image_set_pointer(
		&image->all, PERL_IMAGE_INTERPRETER + layout->stack_info, PERL_IMAGE_OTHER_STACK);
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
	/* of none the end is found */
	foreign_image_set_pointer(
		&image->all, PERL_IMAGE_STACK + layout->previous_info, PERL_IMAGE_OTHER_STACK);
	g_assert_cmpint(look(&memory), !=, LODE_FRAMES_NONE);
}

static void test_deep(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	PerlImage *image = &memory.image;
	for (int i = 3; i < 1000; i++)
		perl_image_set_context(image, i, PERL_SUB, image->outer_sub, image->outer_at);
	perl_image_set_statement(image, image->outer_first);
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
	PerlImage *image = &memory.image;
	const LodePerlLayout *layout = image->layout;
	memset(name, 'n', sizeof(name) - 1);
	name[3] = '\xff';
	uint64_t start = perl_image_add_statement(image, image->inner, "\xc3(", 21);
	perl_image_set_context(image, 4, PERL_SUB,
		perl_image_add_sub(image, "\xe2\x82", name, image->inner, start), image->outer_at);
	perl_image_set_statement(image, start);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	for (guint i = 0; i < memory.codes->len; i++) {
		const LodeScriptCode *one = &g_array_index(memory.codes, LodeScriptCode, i);
		g_assert_true(g_utf8_validate(one->function, -1, NULL));
		g_assert_true(g_utf8_validate(one->file, -1, NULL));
		g_assert_cmpuint(strlen(one->function), <, 2000);
	}
	/* siblings in a circle, lines of none, stacks without bounds */
	uint64_t circle = perl_image_add_statement(image, image->inner, "a.pl", 5);
	foreign_image_set_pointer(&image->all, circle + layout->operation_sibling, circle);
	perl_image_set_statement(image, circle);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	foreign_image_set(&image->all, start + layout->statement_line, UINT32_MAX, 4);
	perl_image_set_statement(image, start);
	g_assert_cmpint(look(&memory), !=, LODE_FRAMES_NONE);
	const uint32_t indices[] = {
		PERL_IMAGE_MOST_CONTEXTS + 1, UINT32_MAX - 1, INT32_MAX, 1u << 31};
	for (size_t i = 0; i < G_N_ELEMENTS(indices); i++) {
		foreign_image_set(
			&image->all, PERL_IMAGE_STACK + layout->context_index, indices[i], 4);
		g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	}
	foreign_image_set(&image->all, PERL_IMAGE_STACK + layout->context_most, INT32_MAX, 4);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
}

/* Whatever changes, no more than memory that is there is read, and what is told is sound. */
static void test_random(void)
{
	static const struct {
		uint64_t at, size;
	} places[] = {{PERL_IMAGE_INTERPRETER + 192, 64}, {PERL_IMAGE_STACK, 64},
		{PERL_IMAGE_CONTEXTS, 640}, {PERL_IMAGE_ALLOCATED, 4096}};
	g_auto(Memory) memory;

	memory_init(&memory);
	PerlImage *image = &memory.image;
	g_autofree uint8_t *right = g_memdup2(image->all.bytes, PERL_IMAGE_BYTES);
	for (unsigned round = random_rounds(3000, 100000); round > 0; round--) {
		for (int i = random_int_range(1, 6); i-- > 0;) {
			size_t which = (size_t)random_int_range(0, G_N_ELEMENTS(places));
			uint64_t at = places[which].at +
			              (uint64_t)random_int_range(0, (int)places[which].size);
			if (random_bit())
				image->all.bytes[at] = (uint8_t)random_int();
			else
				foreign_image_set_pointer(&image->all, at & ~UINT64_C(7),
					(uint64_t)random_int_range(0, PERL_IMAGE_BYTES));
		}
		LodeFramesOutcome outcome = look(&memory);
		g_assert_cmpint(outcome == LODE_FRAMES_FOUND, ==, memory.look->n_frames > 0);
		for (uint32_t i = 0; i < memory.look->n_frames; i++)
			g_assert_cmpuint(memory.look->frames[i].line - 1, <, LODE_SCRIPT_MAX_LINE);
		memcpy(image->all.bytes, right, PERL_IMAGE_BYTES);
	}
	ASSERT_CHAIN(&memory, "A::inner lib/A.pm:21:21, A::outer app.pl:10:12, <main> app.pl:1:40");
}

/* Other numbers of operations or bytes are another version's. */
static void test_versions(void)
{
	g_auto(Memory) memory;
	uint32_t next = 0;

	memory_init(&memory);
	PerlImage *image = &memory.image;
	const LodePerlLayout *layout = image->layout;
	foreign_image_set(&image->all, PERL_IMAGE_SIZE, layout->interpreter_size + 1u, 2);
	g_assert_null(lode_perl_frames_open(image->symbols, &image->all.memory, &next));
	foreign_image_set(&image->all, PERL_IMAGE_SIZE, layout->interpreter_size, 2);
	foreign_image_set_pointer(
		&image->all, PERL_IMAGE_NAMES + 8ul * layout->n_operations, PERL_IMAGE_ALLOCATED);
	g_assert_null(lode_perl_frames_open(image->symbols, &image->all.memory, &next));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/process/perl-frames/chain", test_chain);
	g_test_add_func("/process/perl-frames/versions", test_versions);
	g_test_add_func("/process/perl-frames/moments", test_moments);
	g_test_add_func("/process/perl-frames/blocks", test_blocks);
	g_test_add_func("/process/perl-frames/first-line", test_first_line);
	g_test_add_func("/process/perl-frames/files", test_files);
	g_test_add_func("/process/perl-frames/stacks", test_stacks);
	g_test_add_func("/process/perl-frames/deep", test_deep);
	g_test_add_func("/process/perl-frames/hostile", test_hostile);
	add_random_test("/process/perl-frames/random", test_random,
		"R02S5f1c0d3b7a9e44c2b8d6e0f1a2b3c4d5", NULL);
	return g_test_run();
}
