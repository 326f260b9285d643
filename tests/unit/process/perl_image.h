/* SPDX-License-Identifier: MIT */
/* Memory of a process that runs Perl 5.36: its main program calls A::outer, and that A::inner. */
#pragma once

#include "foreign_image.h"
#include "process/interpreters/perl_frames.h"

enum {
	PERL_IMAGE_BYTES = 1 << 20,
	PERL_IMAGE_PID = 4711,
	PERL_IMAGE_POINTER = 0x100, /* PL_curinterp */
	PERL_IMAGE_SIZE = 0x110,    /* PL_interp_size */
	PERL_IMAGE_NAMES = 0x200,   /* PL_op_name */
	PERL_IMAGE_INTERPRETER = 0x2000,
	PERL_IMAGE_STACK = 0x3000,
	PERL_IMAGE_OTHER_STACK = 0x3100,
	PERL_IMAGE_CONTEXTS = 0x10000,
	PERL_IMAGE_OTHER_CONTEXTS = 0x80000,
	PERL_IMAGE_MOST_CONTEXTS = 1100,
	PERL_IMAGE_ALLOCATED = 0xa0000,
};

/* Kinds of contexts. */
enum { PERL_BLOCK = 2, PERL_SUB = 9, PERL_EVAL = 11, PERL_TRY = 11 | 0x40 };

typedef struct {
	ForeignImage all;
	const LodePerlLayout *layout;
	uint64_t symbols[3];
	uint64_t main, outer, inner;                       /* roots */
	uint64_t main_at, outer_first, outer_at, inner_at; /* statements */
	uint64_t outer_sub, inner_sub;
} PerlImage;

void perl_image_init(PerlImage *self);
void perl_image_clear(PerlImage *self);

/* The root of a tree of operations, and a statement below it. */
uint64_t perl_image_add_root(PerlImage *self, unsigned type);
uint64_t perl_image_add_statement(PerlImage *self, uint64_t root, const char *file, uint32_t line);

/* A block in a statement, whose own first statement is executed no more, and has a line: a call in
 * it, which returns to an operation. */
uint64_t perl_image_add_block(
	PerlImage *self, uint64_t statement, uint32_t line, uint64_t return_to);

uint64_t perl_image_add_sub(
	PerlImage *self, const char *package, const char *name, uint64_t root, uint64_t start);

/* Those that run. */
void perl_image_set_statement(PerlImage *self, uint64_t statement);
void perl_image_set_operation(PerlImage *self, uint64_t operation);

/* Context 0 is the outermost; those of a stack end with it. */
void perl_image_set_context(
	PerlImage *self, int number, unsigned kind, uint64_t sub, uint64_t statement);
void perl_image_set_return(PerlImage *self, int number, uint64_t operation);
