/* SPDX-License-Identifier: MIT */
/* Frames of HotSpot in memory that the test builds: right, and hostile. */
#include "hotspot_image.h"
#include "seeds.h"

#include <string.h>

typedef struct {
	HotspotImage image;
	void *frames;
	LodeScriptLook *look;
	GArray *codes; /* LodeScriptCode, all that were told */
	uint32_t next_code;
	uint64_t now_ns;
} Memory;

static void memory_init(Memory *self, bool is_new)
{
	*self = (Memory){.look = g_new0(LodeScriptLook, 1),
		.codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode))};
	hotspot_image_init(&self->image, is_new);
	self->frames = lode_hotspot_frames_open(
		self->image.symbols, &self->image.all.memory, &self->next_code);
}

static void memory_clear(Memory *self)
{
	lode_hotspot_frames_close(self->frames);
	g_array_unref(self->codes);
	g_free(self->look);
	hotspot_image_clear(&self->image);
}

static LodeFramesOutcome look(Memory *self)
{
	self->now_ns += UINT64_C(5000000000);
	return lode_hotspot_frames_read(self->frames,
		&(LodeFramesThread){4711, HOTSPOT_IMAGE_TID, self->now_ns}, self->look,
		self->codes);
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

static void test_frames(void)
{
	for (int is_new = 0; is_new < 2; is_new++) {
		Memory memory;
		memory_init(&memory, is_new != 0);
		HotspotImage *image = &memory.image;
		g_assert_nonnull(memory.frames);
		assert_frames(&memory, NULL);
		hotspot_image_build(image);
		assert_frames(&memory,
			"java.util.concurrent.Queue.park(int) java/util/concurrent/Queue.java:92; "
			"java.util.concurrent.Queue.take(int) java/util/concurrent/Queue.java:30; "
			"shop.Shop.sell(int) shop/Shop.java:8; Later.run(int) Later.java:51");
		/* It runs Java code. */
		hotspot_image_set_anchor(image, 0, 0, 0);
		assert_frames(&memory, NULL);
		/* Another thread. */
		hotspot_image_set_anchor(image, HOTSPOT_IMAGE_STACK, HOTSPOT_IMAGE_STACK + 0x100,
			HOTSPOT_IMAGE_INTERPRETER + 0x10);
		foreign_image_set(&image->all, HOTSPOT_IMAGE_STATICS, 0, 8);
		assert_frames(&memory, NULL);
		memory_clear(&memory);
	}
}

/* What calls by a stub has its return address below the stack pointer. */
static void test_without_pc(void)
{
	Memory memory;

	memory_init(&memory, false);
	HotspotImage *image = &memory.image;
	uint64_t run = hotspot_image_add_method(image, "Later", "run", 50);
	foreign_image_set_pointer(
		&image->all, HOTSPOT_IMAGE_STACK + 0x80, HOTSPOT_IMAGE_INTERPRETER + 0x10);
	hotspot_image_add_interpreted(image, HOTSPOT_IMAGE_STACK + 0x100, run, 0, 0x100);
	hotspot_image_set_anchor(image, HOTSPOT_IMAGE_STACK + 0x88, HOTSPOT_IMAGE_STACK + 0x100, 0);
	assert_frames(&memory, "Later.run(int) Later.java:50");
	memory_clear(&memory);
}

/* Only the class library's code is known, or none: nothing is said. */
static void test_nothing(void)
{
	Memory memory;

	memory_init(&memory, false);
	HotspotImage *image = &memory.image;
	uint64_t park = hotspot_image_add_method(image, "java/util/concurrent/Queue", "park", 90);
	hotspot_image_add_interpreted(image, HOTSPOT_IMAGE_STACK + 0x100, park, 0, 0x100);
	hotspot_image_set_anchor(image, HOTSPOT_IMAGE_STACK, HOTSPOT_IMAGE_STACK + 0x100,
		HOTSPOT_IMAGE_INTERPRETER + 0x10);
	assert_frames(&memory, NULL);
	hotspot_image_set_anchor(
		image, HOTSPOT_IMAGE_STACK, HOTSPOT_IMAGE_STACK + 0x100, HOTSPOT_IMAGE_CODE + 0x10);
	assert_frames(&memory, NULL);
	memory_clear(&memory);
}

/* A table without what is needed, or that is none, is not of a version that is known. */
static void test_tables(void)
{
	Memory memory;
	LodeHotspotLayout layout;

	memory_init(&memory, false);
	HotspotImage *image = &memory.image;
	const uint64_t *symbols = image->symbols;
	const LodeForeignMemory *foreign = &image->all.memory;
	g_assert_true(lode_hotspot_layout_read(&layout, symbols, foreign));
	g_assert_cmpuint(layout.pool_class, ==, 24);
	g_assert_cmpuint(layout.threads_at, ==, FOREIGN_IMAGE_BASE + HOTSPOT_IMAGE_STATICS);
	g_assert_cmpuint(layout.rest_bytes, ==, HOTSPOT_IMAGE_REST_BYTES);
	g_assert_cmpuint(layout.class_file, ==, LODE_HOTSPOT_LACKS);
	foreign_image_set(&image->all, HOTSPOT_IMAGE_STRUCTS + 32, 1 << 20, 8);
	g_assert_false(lode_hotspot_layout_read(&layout, symbols, foreign));
	foreign_image_set(&image->all, HOTSPOT_IMAGE_STRUCTS + 32, 4, 8);
	foreign_image_set(&image->all, HOTSPOT_IMAGE_TYPES, 0, 8);
	g_assert_false(lode_hotspot_layout_read(&layout, symbols, foreign));
	for (uint64_t stride = 0; stride < 8; stride++) {
		foreign_image_set(&image->all,
			HOTSPOT_IMAGE_SYMBOLS + LODE_HOTSPOT_STRUCT_STRIDE * 8, stride, 8);
		g_assert_false(lode_hotspot_layout_read(&layout, symbols, foreign));
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
		HotspotImage *image = &memory.image;
		hotspot_image_build(image);
		for (int i = random_int_range(1, 12); i > 0; i--) {
			uint64_t at = (uint64_t)(random_bit()
							 ? random_int_range(HOTSPOT_IMAGE_STATICS,
								   HOTSPOT_IMAGE_STACK + 0x400)
							 : random_int_range(HOTSPOT_IMAGE_ALLOCATED,
								   (gint32)image->all.free));
			foreign_image_set(&image->all, at / 8 * 8,
				random_bit() ? FOREIGN_IMAGE_BASE + (uint64_t)random_int_range(
									    0, HOTSPOT_IMAGE_BYTES)
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
