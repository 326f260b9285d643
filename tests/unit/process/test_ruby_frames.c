/* SPDX-License-Identifier: MIT */
/* Frames of Ruby 3.1 in memory that the test builds: right, and hostile. */
#include "ruby_image.h"
#include "seeds.h"

#include <string.h>

typedef struct {
	RubyImage image;
	void *frames;
	LodeScriptLook *look;
	GArray *codes; /* LodeScriptCode, all that were told */
	uint32_t next_code;
	uint64_t now_ns;
} Memory;

#define RIGHT                                                                                      \
	"Art::Drawing.load app.rb:30-33:31, block (2 levels) in Art::Drawing#draw "                \
	"app.rb:12-15:15, "                                                                        \
	"Art::Drawing#draw app.rb:10-13:12, <main> app.rb:1-3:1"

static void *open_frames(Memory *self)
{
	return lode_ruby_frames_open(
		self->image.symbols, &self->image.all.memory, &self->next_code);
}

static void memory_init(Memory *self)
{
	*self = (Memory){.look = g_new0(LodeScriptLook, 1),
		.codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode)),
		.next_code = 5,
		.now_ns = 1000000000};
	ruby_image_init(&self->image);
	self->frames = open_frames(self);
	g_assert_nonnull(self->frames);
	g_assert_cmpuint(lode_ruby_frames_loop(self->frames), ==, 0);
}

static void memory_clear(Memory *self)
{
	lode_ruby_frames_close(self->frames);
	g_array_unref(self->codes);
	g_free(self->look);
	ruby_image_clear(&self->image);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Memory, memory_clear)

static LodeFramesOutcome look_at(Memory *self, pid_t tid)
{
	self->now_ns += 1000000000;
	const LodeFramesThread thread = {RUBY_IMAGE_PID, tid, self->now_ns};

	return lode_ruby_frames_read(self->frames, &thread, self->look, self->codes);
}

static LodeFramesOutcome look(Memory *self)
{
	return look_at(self, RUBY_IMAGE_PID);
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

static void test_versions(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	strcpy((char *)memory.image.all.bytes + RUBY_IMAGE_VERSION, "3.2.0");
	g_assert_null(open_frames(&memory));
}

static void test_chain(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	RubyImage *image = &memory.image;
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory, RIGHT);
	g_assert_cmpuint(memory.codes->len, ==, 4);
	g_assert_cmpuint(lode_ruby_frames_loop(memory.frames), ==, RUBY_IMAGE_LOOP);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.codes->len, ==, 4);
	/* the text of eval, in a method */
	ruby_image_set_frame(image, 0, 3, image->eval, 1, image->in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory,
		"(eval) app.rb:1-4:2, Art::Drawing#draw app.rb:10-13:12, <main> app.rb:1-3:1");
	/* what is below all before the program begins */
	ruby_image_set_frame(image, 0, 1,
		ruby_image_add_iseq(image, RUBY_TOP, "<main>", "<main>", 0), 4, image->in_main);
	ruby_image_set_frame(image, 0, 2, image->draw, 5, image->in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory, "Art::Drawing#draw app.rb:10-13:12");
	/* other code where some was */
	uint64_t other = ruby_image_add_iseq(image, RUBY_METHOD, "undo", "undo", 50);
	ruby_image_set_local(image, other, image->single);
	memcpy(image->all.bytes + image->single, image->all.bytes + other, 40);
	ruby_image_set_frame(image, 0, 1, image->single, 1, image->in_single);
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
	RubyImage *image = &memory.image;
	for (unsigned i = 2; i < 6; i++)
		ruby_image_set_frame(image, 0, i, 0, 0, 0);
	ruby_image_set_frame(image, 0, 6, image->draw, 5, image->in_single);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	ruby_image_set_frame(image, 0, 6, image->draw, 5, image->in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory, "Art::Drawing#draw app.rb:10-13:12, <main> app.rb:1-3:1");
	ruby_image_set_frame(image, 0, 6, image->single, 5, image->in_draw);
	while (look(&memory) == LODE_FRAMES_TORN)
		g_assert_cmpuint(++n_torn, <, 1000);
	ASSERT_CHAIN(&memory, "load app.rb:30-33:32, <main> app.rb:1-3:1");
}

static void test_threads(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	RubyImage *image = &memory.image;
	g_assert_cmpint(look_at(&memory, RUBY_IMAGE_OTHER_TID), ==, LODE_FRAMES_FOUND);
	ASSERT_CHAIN(&memory, "Art::Drawing#draw app.rb:10-13:13");
	g_assert_cmpint(look_at(&memory, RUBY_IMAGE_OTHER_TID + 1), ==, LODE_FRAMES_NONE);
	/* one that a process had which was forked has another number */
	foreign_image_set(&image->all, RUBY_IMAGE_THREADS + image->layout->thread_number, 1, 4);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	/* it ended; lists in a circle end, too */
	foreign_image_set(&image->all,
		RUBY_IMAGE_THREADS + RUBY_IMAGE_THREAD_STEP + image->layout->thread_number, 0, 4);
	foreign_image_set_pointer(&image->all, RUBY_IMAGE_THREADS + image->layout->thread_node,
		RUBY_IMAGE_THREADS + image->layout->thread_node);
	g_assert_cmpint(look_at(&memory, RUBY_IMAGE_OTHER_TID), ==, LODE_FRAMES_NONE);
	/* no Ruby runs */
	ruby_image_set_frame(image, 0, 0, 0, 0, 0);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE);
	foreign_image_set(&image->all, RUBY_IMAGE_VM_POINTER, 0, 8);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_NONE);
}

static void test_deep(void)
{
	g_auto(Memory) memory;

	memory_init(&memory);
	RubyImage *image = &memory.image;
	for (unsigned i = 2; i < 1000; i++)
		ruby_image_set_frame(image, 0, i, i % 2 == 0 ? image->draw : 0, 5, image->in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->n_frames, ==, LODE_SCRIPT_MAX_FRAMES);
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_IS_CUT);
	for (unsigned i = 2; i < 100; i++)
		ruby_image_set_frame(image, 0, i, i % 2 == 0 ? image->draw : 0, 5, image->in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_FOUND);
	g_assert_cmpuint(memory.look->n_frames, ==, 50);
	g_assert_cmpuint(memory.look->flags, ==, 0);
}

static void test_hostile(void)
{
	g_auto(Memory) memory;
	static char name[1 << 16];

	memory_init(&memory);
	RubyImage *image = &memory.image;
	const LodeRubyLayout *layout = image->layout;
	memset(name, 'n', sizeof(name) - 1);
	name[3] = '\xff';
	ruby_image_set_frame(image, 0, 1, ruby_image_add_iseq(image, RUBY_METHOD, name, name, 3), 1,
		image->in_draw);
	while (look(&memory) == LODE_FRAMES_TORN && memory.codes->len < 1000)
		;
	g_assert_cmpuint(memory.look->n_frames, ==, 1);
	const LodeScriptCode *told = &g_array_index(memory.codes, LodeScriptCode, 0);
	g_assert_true(g_utf8_validate(told->function, -1, NULL));
	g_assert_cmpuint(strlen(told->function), <, 4000);
	/* pc outside the code, no iseq, another object */
	ruby_image_set_frame(image, 0, 1, image->draw, 21, image->in_draw);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	g_assert_cmpuint(memory.look->flags, ==, LODE_SCRIPT_WAS_TORN);
	ruby_image_set_frame(image, 0, 1, image->draw, 1, image->in_draw);
	foreign_image_set_pointer(
		&image->all, ruby_image_frame(0, 1) + layout->frame_iseq, RUBY_IMAGE_STACKS);
	g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	/* stacks that are none */
	ruby_image_set_frame(image, 0, 1, image->draw, 1, image->in_draw);
	const uint64_t sizes[] = {0, 1, UINT64_MAX, UINT64_MAX / 8, 1 << 23};
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		foreign_image_set(
			&image->all, RUBY_IMAGE_CONTEXTS + layout->context_stack_size, sizes[i], 8);
		g_assert_cmpint(look(&memory), ==, LODE_FRAMES_TORN);
	}
}

/* Whatever changes, no more than memory that is there is read, and what is told is sound. */
static void test_random(void)
{
	static const struct {
		uint64_t at, size;
	} places[] = {{RUBY_IMAGE_VM, 64}, {RUBY_IMAGE_THREADS, 128}, {RUBY_IMAGE_CONTEXTS, 32},
		{RUBY_IMAGE_STACKS + RUBY_IMAGE_STACK_STEP - 6 * RUBY_IMAGE_FRAME,
			6 * RUBY_IMAGE_FRAME},
		{RUBY_IMAGE_ALLOCATED, 6000}};
	g_auto(Memory) memory;

	memory_init(&memory);
	RubyImage *image = &memory.image;
	g_autofree uint8_t *right = g_memdup2(image->all.bytes, RUBY_IMAGE_BYTES);
	for (unsigned round = random_rounds(3000, 100000); round > 0; round--) {
		for (int i = random_int_range(1, 6); i-- > 0;) {
			size_t which = (size_t)random_int_range(0, G_N_ELEMENTS(places));
			uint64_t at = places[which].at +
			              (uint64_t)random_int_range(0, (int)places[which].size);
			if (random_bit())
				image->all.bytes[at] = (uint8_t)random_int();
			else
				foreign_image_set_pointer(&image->all, at & ~UINT64_C(7),
					(uint64_t)random_int_range(0, RUBY_IMAGE_BYTES));
		}
		LodeFramesOutcome outcome = look_at(
			&memory, random_bit() ? RUBY_IMAGE_PID : RUBY_IMAGE_OTHER_TID);
		g_assert_cmpint(outcome == LODE_FRAMES_FOUND, ==, memory.look->n_frames > 0);
		for (uint32_t i = 0; i < memory.look->n_frames; i++)
			g_assert_cmpuint(memory.look->frames[i].line - 1, <, LODE_SCRIPT_MAX_LINE);
		memcpy(image->all.bytes, right, RUBY_IMAGE_BYTES);
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
		ruby_image_encode((const uint32_t *)(const void *)expected->data, expected->len,
			n_units, table);
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
	g_test_add_func("/process/ruby-frames/versions", test_versions);
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
