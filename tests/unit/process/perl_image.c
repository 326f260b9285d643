/* SPDX-License-Identifier: MIT */
#include "perl_image.h"

#include <string.h>

enum { LEAVE_SUB = 185, LEAVE = 199, REQUIRE = 342 };

static uint64_t add_key(PerlImage *self, const char *text)
{
	uint64_t at = foreign_image_allocate(&self->all, self->layout->key_text + strlen(text) + 2);

	foreign_image_set(&self->all, at + self->layout->key_length, strlen(text), 4);
	strcpy((char *)self->all.bytes + at + self->layout->key_text, text);
	return at;
}

/* An SV of a type with a body. */
static uint64_t add_value(PerlImage *self, uint32_t flags, uint64_t body)
{
	uint64_t at = foreign_image_allocate(&self->all, 24);

	foreign_image_set_pointer(&self->all, at + self->layout->body, body);
	foreign_image_set(&self->all, at + self->layout->flags, flags, 4);
	return at;
}

static uint64_t add_package(PerlImage *self, const char *name)
{
	uint64_t body = foreign_image_allocate(&self->all, 88);

	foreign_image_set_pointer(&self->all, body + self->layout->stash_name, add_key(self, name));
	return add_value(self, 12 | 0x2000000, body);
}

uint64_t perl_image_add_root(PerlImage *self, unsigned type)
{
	uint64_t at = foreign_image_allocate(&self->all, 96);

	foreign_image_set(&self->all, at + self->layout->operation_type, type, 2);
	return at;
}

uint64_t perl_image_add_statement(PerlImage *self, uint64_t root, const char *file, uint32_t line)
{
	const LodePerlLayout *layout = self->layout;
	uint64_t at = foreign_image_allocate(&self->all, layout->statement_bytes),
		 last = foreign_image_allocate(&self->all, 48);

	foreign_image_set(&self->all, at + layout->operation_type,
		(uint64_t)(layout->next_state | layout->more_siblings << 8), 2);
	foreign_image_set_pointer(&self->all, at + layout->operation_sibling, last);
	foreign_image_set(&self->all, last + layout->operation_type, 1, 2);
	foreign_image_set_pointer(&self->all, last + layout->operation_sibling, root);
	foreign_image_set(&self->all, at + layout->statement_line, line, 4);
	foreign_image_set_pointer(
		&self->all, at + layout->statement_file, foreign_image_add_text(&self->all, file));
	foreign_image_set(&self->all, at + layout->statement_number, at, 4);
	return at;
}

uint64_t perl_image_add_block(
	PerlImage *self, uint64_t statement, uint32_t line, uint64_t return_to)
{
	const LodePerlLayout *layout = self->layout;
	uint64_t nothing = foreign_image_allocate(&self->all, layout->statement_bytes);
	uint64_t call = foreign_image_allocate(&self->all, 48);
	uint64_t block = foreign_image_word(&self->all, statement + layout->operation_sibling) -
	                 FOREIGN_IMAGE_BASE;

	foreign_image_set(&self->all, block + layout->operation_kids, layout->has_kids, 1);
	foreign_image_set_pointer(&self->all, block + layout->operation_first, nothing);
	foreign_image_set(&self->all, nothing + layout->operation_target, layout->next_state, 8);
	foreign_image_set(&self->all, nothing + layout->operation_flags, layout->more_siblings, 1);
	foreign_image_set(&self->all, nothing + layout->statement_line, line, 4);
	foreign_image_set_pointer(&self->all, nothing + layout->operation_sibling, call);
	foreign_image_set(&self->all, call + layout->operation_type, layout->enter_sub, 2);
	foreign_image_set_pointer(&self->all, call + layout->operation_next, return_to);
	foreign_image_set_pointer(&self->all, call + layout->operation_sibling, block);
	return call;
}

uint64_t perl_image_add_sub(
	PerlImage *self, const char *package, const char *name, uint64_t root, uint64_t start)
{
	const LodePerlLayout *layout = self->layout;
	uint64_t body = foreign_image_allocate(&self->all, layout->sub_bytes),
		 glob = foreign_image_allocate(&self->all, 64);

	foreign_image_set_pointer(&self->all, glob + layout->glob_name, add_key(self, name));
	foreign_image_set_pointer(
		&self->all, glob + layout->glob_stash, add_package(self, package));
	foreign_image_set_pointer(&self->all, body + layout->sub_name, add_value(self, 9, glob));
	foreign_image_set_pointer(&self->all, body + layout->sub_root, root);
	foreign_image_set_pointer(&self->all, body + layout->sub_start, start);
	return add_value(self, 13, body);
}

void perl_image_set_statement(PerlImage *self, uint64_t statement)
{
	foreign_image_set_pointer(
		&self->all, PERL_IMAGE_INTERPRETER + self->layout->statement, statement);
}

void perl_image_set_context(
	PerlImage *self, int number, unsigned kind, uint64_t sub, uint64_t statement)
{
	const LodePerlLayout *layout = self->layout;
	uint64_t at = PERL_IMAGE_CONTEXTS + (uint64_t)number * layout->context_bytes;

	foreign_image_set(&self->all, at + layout->context_kind, kind, 1);
	foreign_image_set(&self->all, at + layout->context_operation, REQUIRE << 7, 2);
	foreign_image_set_pointer(&self->all, at + layout->context_statement, statement);
	foreign_image_set_pointer(&self->all, at + layout->context_sub, sub);
	foreign_image_set(
		&self->all, PERL_IMAGE_STACK + layout->context_index, (uint32_t)number, 4);
}

void perl_image_set_operation(PerlImage *self, uint64_t operation)
{
	foreign_image_set_pointer(
		&self->all, PERL_IMAGE_INTERPRETER + self->layout->operation, operation);
}

void perl_image_set_return(PerlImage *self, int number, uint64_t operation)
{
	foreign_image_set_pointer(&self->all,
		PERL_IMAGE_CONTEXTS + (uint64_t)number * self->layout->context_bytes +
			self->layout->context_return,
		operation);
}

static void make_code(PerlImage *self)
{
	self->main = perl_image_add_root(self, LEAVE);
	self->outer = perl_image_add_root(self, LEAVE_SUB);
	self->inner = perl_image_add_root(self, LEAVE_SUB);
	self->main_at = perl_image_add_statement(self, self->main, "app.pl", 40);
	self->outer_first = perl_image_add_statement(self, self->outer, "app.pl", 10);
	self->outer_at = perl_image_add_statement(self, self->outer, "app.pl", 12);
	self->inner_at = perl_image_add_statement(self, self->inner, "lib/A.pm", 21);
	self->outer_sub = perl_image_add_sub(self, "A", "outer", self->outer, self->outer_first);
	self->inner_sub = perl_image_add_sub(self, "A", "inner", self->inner, self->inner_at);
	foreign_image_set_pointer(
		&self->all, PERL_IMAGE_INTERPRETER + self->layout->main_root, self->main);
	perl_image_set_context(self, 0, 0, 0, 0);
	perl_image_set_context(self, 1, PERL_BLOCK, 0, self->main_at);
	perl_image_set_context(self, 2, PERL_SUB, self->outer_sub, self->main_at);
	perl_image_set_context(self, 3, PERL_TRY, 0, self->outer_at);
	perl_image_set_context(self, 4, PERL_SUB, self->inner_sub, self->outer_at);
	perl_image_set_statement(self, self->inner_at);
}

void perl_image_init(PerlImage *self)
{
	const LodePerlLayout *layout = &lode_perl_layouts[0];
	const struct {
		unsigned number;
		const char *name;
	} operations[] = {{layout->next_state, "nextstate"}, {layout->debug_state, "dbstate"},
		{layout->enter_eval, "entereval"}, {layout->leave_eval, "leaveeval"},
		{layout->n_operations, "freed"}};

	*self = (PerlImage){.layout = layout,
		.symbols = {FOREIGN_IMAGE_BASE + PERL_IMAGE_POINTER,
			FOREIGN_IMAGE_BASE + PERL_IMAGE_SIZE,
			FOREIGN_IMAGE_BASE + PERL_IMAGE_NAMES}};
	foreign_image_init(&self->all, PERL_IMAGE_BYTES, PERL_IMAGE_ALLOCATED);
	foreign_image_set_pointer(&self->all, PERL_IMAGE_POINTER, PERL_IMAGE_INTERPRETER);
	foreign_image_set(&self->all, PERL_IMAGE_SIZE, layout->interpreter_size, 2);
	for (size_t i = 0; i < G_N_ELEMENTS(operations); i++)
		foreign_image_set_pointer(&self->all, PERL_IMAGE_NAMES + 8 * operations[i].number,
			foreign_image_add_text(&self->all, operations[i].name));
	foreign_image_set_pointer(
		&self->all, PERL_IMAGE_INTERPRETER + layout->stack_info, PERL_IMAGE_STACK);
	foreign_image_set_pointer(
		&self->all, PERL_IMAGE_STACK + layout->contexts, PERL_IMAGE_CONTEXTS);
	foreign_image_set(
		&self->all, PERL_IMAGE_STACK + layout->context_most, PERL_IMAGE_MOST_CONTEXTS, 4);
	make_code(self);
}

void perl_image_clear(PerlImage *self)
{
	foreign_image_clear(&self->all);
}
