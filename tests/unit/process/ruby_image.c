/* SPDX-License-Identifier: MIT */
#include "ruby_image.h"

#include <string.h>

enum { ATTACHED_KEY = 0x11, CLASS_PATH_KEY = 0x23 };

static uint64_t add_object(RubyImage *self, uint64_t flags, size_t size)
{
	uint64_t at = foreign_image_allocate(&self->all, size);

	foreign_image_set(&self->all, at, flags, 8);
	return at;
}

static uint64_t add_text(RubyImage *self, const char *text)
{
	const LodeRubyLayout *layout = self->layout;
	size_t n = strlen(text);
	bool is_embedded = n < 24;
	uint64_t at = add_object(self, 5u | (is_embedded ? (uint64_t)n << 14 : 0x2000), 40);
	uint64_t data = at + layout->text_bytes;

	if (!is_embedded) {
		data = foreign_image_allocate(&self->all, n);
		foreign_image_set(&self->all, at + layout->text_length, n, 8);
		foreign_image_set_pointer(&self->all, at + layout->text_pointer, data);
	}
	memcpy(self->all.bytes + data, text, n);
	return at;
}

/* A class or module with one variable. */
static uint64_t add_class(RubyImage *self, uint64_t flags, uint64_t key, uint64_t value)
{
	const LodeRubyLayout *layout = self->layout;
	uint64_t at = add_object(self, flags, 40),
		 extension = foreign_image_allocate(&self->all, 64);
	uint64_t table = foreign_image_allocate(&self->all, 56),
		 entries = foreign_image_allocate(&self->all, 48);

	foreign_image_set_pointer(&self->all, at + layout->class_extension, extension);
	foreign_image_set_pointer(&self->all, extension + layout->class_variables, table);
	foreign_image_set(&self->all, table + layout->table_end, 2, 8);
	foreign_image_set_pointer(&self->all, table + layout->table_entries, entries);
	foreign_image_set(&self->all, entries, UINT64_MAX, 8); /* one that was removed */
	foreign_image_set(&self->all, entries + 24 + 8, key, 8);
	foreign_image_set_pointer(&self->all, entries + 24 + 16, value);
	return at;
}

static uint64_t add_named(RubyImage *self, unsigned type, const char *name)
{
	return add_class(self, type, CLASS_PATH_KEY, add_text(self, name));
}

void ruby_image_encode(const uint32_t *positions, size_t n, uint32_t n_units, uint8_t *out)
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

uint64_t ruby_image_add_iseq(
	RubyImage *self, unsigned type, const char *label, const char *base, uint32_t first_line)
{
	static const uint32_t positions[] = {0, 4, 10};
	const LodeRubyLayout *layout = self->layout;
	uint64_t at = add_object(self, 0x1a | 7u << 12, 40),
		 body = foreign_image_allocate(&self->all, layout->code_bytes);
	uint64_t lines = foreign_image_allocate(&self->all, 3 * 12),
		 table = foreign_image_allocate(&self->all, 64);
	uint64_t path = add_object(self, 7 | 0x2000 | 2 << 15, 40);

	foreign_image_set_pointer(&self->all, at + layout->iseq_body, body);
	foreign_image_set(&self->all, body + layout->code_type, type, 4);
	foreign_image_set(&self->all, body + layout->code_size, 20, 4);
	uint64_t units = foreign_image_allocate(&self->all, 20 * 8);
	foreign_image_set(&self->all, units, RUBY_IMAGE_LOOP, 8);
	foreign_image_set_pointer(&self->all, body + layout->code_units, units);
	foreign_image_set_pointer(
		&self->all, path + layout->array_elements, add_text(self, "app.rb"));
	foreign_image_set_pointer(&self->all, body + layout->code_path, path);
	foreign_image_set_pointer(&self->all, body + layout->code_label, add_text(self, label));
	foreign_image_set_pointer(&self->all, body + layout->code_base_label, add_text(self, base));
	foreign_image_set(
		&self->all, body + layout->code_first_line, (uint64_t)first_line << 1 | 1, 8);
	foreign_image_set_pointer(&self->all, body + layout->code_lines, lines);
	for (uint32_t i = 0; i < 3; i++)
		foreign_image_set(&self->all, lines + i * 12, first_line + 1 + i, 4);
	foreign_image_set(&self->all, body + layout->code_n_lines, 3, 4);
	ruby_image_encode(positions, 3, 20, self->all.bytes + table);
	foreign_image_set_pointer(&self->all, body + layout->code_positions, table);
	foreign_image_set_pointer(&self->all, body + layout->code_local, at);
	return at;
}

void ruby_image_set_local(RubyImage *self, uint64_t iseq, uint64_t method)
{
	uint64_t body = foreign_image_word(&self->all, iseq + self->layout->iseq_body);

	foreign_image_set_pointer(
		&self->all, body - FOREIGN_IMAGE_BASE + self->layout->code_local, method);
}

/* The environment of a method of a class; or of a block in another. */
static uint64_t add_environment(RubyImage *self, uint64_t owner, uint64_t method, uint64_t outer)
{
	uint64_t at = foreign_image_allocate(&self->all, 64) + 16;

	if (outer != 0) {
		foreign_image_set(&self->all, at - 8, FOREIGN_IMAGE_BASE + outer + 1,
			8); /* with a mark of the kind */
		return at;
	}
	uint64_t entry = add_object(self, 0x1a | 6u << 12, 48);
	uint64_t special = add_object(self, 0x1a | 2u << 12, 40);
	uint64_t definition = foreign_image_allocate(&self->all, 40);
	foreign_image_set_pointer(&self->all, entry + self->layout->entry_definition, definition);
	foreign_image_set_pointer(&self->all, definition + self->layout->definition_iseq, method);
	foreign_image_set_pointer(&self->all, entry + self->layout->entry_owner, owner);
	foreign_image_set_pointer(&self->all, special + 8, entry);
	foreign_image_set_pointer(&self->all, at - 16, special);
	foreign_image_set(&self->all, at, 2, 8);
	return at;
}

uint64_t ruby_image_frame(unsigned thread, unsigned from_end)
{
	return RUBY_IMAGE_STACKS + (thread + 1) * RUBY_IMAGE_STACK_STEP -
	       (from_end + 1) * RUBY_IMAGE_FRAME;
}

void ruby_image_set_frame(RubyImage *self, unsigned thread, unsigned number, uint64_t iseq,
	unsigned unit, uint64_t environment)
{
	const LodeRubyLayout *layout = self->layout;
	uint64_t at = ruby_image_frame(thread, number), units = 0;

	memset(self->all.bytes + at, 0, RUBY_IMAGE_FRAME);
	if (iseq != 0) {
		uint64_t body = foreign_image_word(&self->all, iseq + layout->iseq_body);
		units = foreign_image_word(
			&self->all, body - FOREIGN_IMAGE_BASE + layout->code_units);
		foreign_image_set(&self->all, at + layout->frame_pc, units + 8ul * unit, 8);
	}
	foreign_image_set_pointer(&self->all, at + layout->frame_iseq, iseq);
	foreign_image_set_pointer(&self->all, at + layout->frame_environment, environment);
	foreign_image_set_pointer(&self->all,
		RUBY_IMAGE_CONTEXTS + thread * RUBY_IMAGE_CONTEXT_STEP + layout->context_frame, at);
}

static void set_threads(RubyImage *self)
{
	const LodeRubyLayout *layout = self->layout;

	foreign_image_set_pointer(
		&self->all, RUBY_IMAGE_VM + layout->main_thread, RUBY_IMAGE_THREADS);
	foreign_image_set_pointer(&self->all, RUBY_IMAGE_VM + layout->ractors,
		RUBY_IMAGE_RACTOR + layout->ractor_node);
	foreign_image_set_pointer(&self->all, RUBY_IMAGE_RACTOR + layout->ractor_node,
		RUBY_IMAGE_VM + layout->ractors);
	foreign_image_set_pointer(&self->all, RUBY_IMAGE_RACTOR + layout->threads,
		RUBY_IMAGE_THREADS + layout->thread_node);
	foreign_image_set_pointer(&self->all, RUBY_IMAGE_THREADS + layout->thread_node,
		RUBY_IMAGE_THREADS + RUBY_IMAGE_THREAD_STEP + layout->thread_node);
	foreign_image_set_pointer(&self->all,
		RUBY_IMAGE_THREADS + RUBY_IMAGE_THREAD_STEP + layout->thread_node,
		RUBY_IMAGE_RACTOR + layout->threads);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t context = RUBY_IMAGE_CONTEXTS + i * RUBY_IMAGE_CONTEXT_STEP;
		foreign_image_set_pointer(&self->all,
			RUBY_IMAGE_THREADS + i * RUBY_IMAGE_THREAD_STEP + layout->thread_context,
			context);
		foreign_image_set(&self->all,
			RUBY_IMAGE_THREADS + i * RUBY_IMAGE_THREAD_STEP + layout->thread_number,
			RUBY_IMAGE_PID + i, 4);
		foreign_image_set_pointer(&self->all, context + layout->context_stack,
			RUBY_IMAGE_STACKS + i * RUBY_IMAGE_STACK_STEP);
		foreign_image_set(&self->all, context + layout->context_stack_size,
			RUBY_IMAGE_STACK_STEP / 8, 8);
	}
}

static void make_code(RubyImage *self)
{
	uint64_t object = add_named(self, 2, "Object");
	uint64_t meta = add_class(self, 2 | 0x1000, ATTACHED_KEY, object);
	uint64_t drawing = add_named(self, 2, "Art::Drawing");
	uint64_t of_drawing = add_class(self, 2 | 0x1000, ATTACHED_KEY, drawing);

	foreign_image_set_pointer(&self->all, RUBY_IMAGE_OBJECT_POINTER, object);
	foreign_image_set_pointer(&self->all, object + self->layout->object_class, meta);
	self->main = ruby_image_add_iseq(self, RUBY_MAIN, "<main>", "<main>", 0);
	self->draw = ruby_image_add_iseq(self, RUBY_METHOD, "draw", "draw", 10);
	self->block = ruby_image_add_iseq(self, RUBY_BLOCK, "block (2 levels) in draw", "draw", 12);
	self->single = ruby_image_add_iseq(self, RUBY_METHOD, "load", "load", 30);
	self->eval = ruby_image_add_iseq(self, RUBY_EVAL, "draw", "draw", 1);
	self->in_main = foreign_image_allocate(&self->all, 64) + 16;
	foreign_image_set(&self->all, self->in_main, 2, 8);
	ruby_image_set_local(self, self->block, self->draw);
	ruby_image_set_local(self, self->eval, self->draw);
	self->in_draw = add_environment(self, drawing, self->draw, 0);
	self->in_block = add_environment(self, 0, 0, add_environment(self, 0, 0, self->in_draw));
	self->in_single = add_environment(self, of_drawing, self->single, 0);
	ruby_image_set_frame(self, 0, 0, 0, 0, 0);
	ruby_image_set_frame(self, 0, 1, self->main, 4, self->in_main);
	ruby_image_set_frame(self, 0, 2, self->draw, 5, self->in_draw);
	ruby_image_set_frame(self, 0, 3, 0, 0, 0);
	ruby_image_set_frame(self, 0, 4, self->block, 20, self->in_block);
	ruby_image_set_frame(self, 0, 5, self->single, 0, self->in_single);
	ruby_image_set_frame(self, 1, 0, self->draw, 11, self->in_draw);
}

void ruby_image_init(RubyImage *self)
{
	*self = (RubyImage){.layout = &lode_ruby_layouts[0],
		.symbols = {FOREIGN_IMAGE_BASE + RUBY_IMAGE_VM_POINTER,
			FOREIGN_IMAGE_BASE + RUBY_IMAGE_OBJECT_POINTER,
			FOREIGN_IMAGE_BASE + RUBY_IMAGE_VERSION}};
	foreign_image_init(&self->all, RUBY_IMAGE_BYTES, RUBY_IMAGE_ALLOCATED);
	strcpy((char *)self->all.bytes + RUBY_IMAGE_VERSION, "3.1.2");
	foreign_image_set_pointer(&self->all, RUBY_IMAGE_VM_POINTER, RUBY_IMAGE_VM);
	set_threads(self);
	make_code(self);
}

void ruby_image_clear(RubyImage *self)
{
	foreign_image_clear(&self->all);
}
