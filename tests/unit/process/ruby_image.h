/* SPDX-License-Identifier: MIT */
/* Memory of a process that runs Ruby 3.1: two threads, and code of a class Art::Drawing. */
#pragma once

#include "foreign_image.h"
#include "process/interpreters/ruby_frames.h"

enum {
	RUBY_IMAGE_BYTES = 1 << 20,
	RUBY_IMAGE_PID = 4711,
	RUBY_IMAGE_OTHER_TID = 4712,
	RUBY_IMAGE_VM_POINTER = 0x100,
	RUBY_IMAGE_OBJECT_POINTER = 0x108,
	RUBY_IMAGE_VERSION = 0x110,
	RUBY_IMAGE_VM = 0x1000,
	RUBY_IMAGE_RACTOR = 0x2000,
	RUBY_IMAGE_THREADS = 0x3000, /* the main one, and the other */
	RUBY_IMAGE_THREAD_STEP = 0x200,
	RUBY_IMAGE_CONTEXTS = 0x4000, /* of the two */
	RUBY_IMAGE_CONTEXT_STEP = 0x100,
	RUBY_IMAGE_STACKS = 0x10000,
	RUBY_IMAGE_STACK_STEP = 0x20000,
	RUBY_IMAGE_FRAME = 64,
	RUBY_IMAGE_ALLOCATED = 0x60000,
	RUBY_IMAGE_LOOP = 0x123456, /* where instructions are executed */
};

/* Types of code. */
enum { RUBY_TOP = 0, RUBY_METHOD = 1, RUBY_BLOCK = 2, RUBY_EVAL = 6, RUBY_MAIN = 7 };

typedef struct {
	ForeignImage all;
	const LodeRubyLayout *layout;
	uint64_t symbols[3];
	uint64_t main, draw, block, single, eval; /* iseqs */
	uint64_t in_main, in_draw, in_block, in_single;
} RubyImage;

void ruby_image_init(RubyImage *self);
void ruby_image_clear(RubyImage *self);

/* Code of 20 units, whose line is the next from unit 4, and again from unit 10 on. */
uint64_t ruby_image_add_iseq(
	RubyImage *self, unsigned type, const char *label, const char *base, uint32_t first_line);

/* The method that the code is in. */
void ruby_image_set_local(RubyImage *self, uint64_t iseq, uint64_t method);

uint64_t ruby_image_frame(unsigned thread, unsigned from_end);

/* Frame 0 is the outermost; one without an iseq is a function's in C. */
void ruby_image_set_frame(RubyImage *self, unsigned thread, unsigned number, uint64_t iseq,
	unsigned unit, uint64_t environment);

/* Positions of lines as CRuby encodes them (succ_index_table_create of iseq.c). */
void ruby_image_encode(const uint32_t *positions, size_t n, uint32_t n_units, uint8_t *out);
