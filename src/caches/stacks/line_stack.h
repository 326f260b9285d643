/* SPDX-License-Identifier: MIT */
/*
 * Lines by how recently they were used, as a stack: a line is used, and its depth is given.
 *
 *   depth 0 …          31 │ 32 …
 *   near lines, by age    │ a recency tree: each line marks the moment at which it left the
 *                         │ near ones; its depth is 32 + the marks after its own
 *
 * A table knows of each line where it is. Memory grows with the number of lines: at most 70 bytes
 * each.
 */
#pragma once

#include "caches/sets/near_lines.h"
#include "caches/stacks/recency_tree.h"

enum { LODE_LINE_STACK_MAX_LINES = 1 << 24 }; /* a few more do no harm */

typedef struct {
	LodeNearLines near;
	uint32_t near_slots[LODE_NEAR_LINES]; /* of the table */
	LodeRecencyTree tree;
	uint32_t *slots;       /* × the tree's capacity: which line marked the moment */
	uint64_t *table_lines; /* open addressing */
	uint32_t *table_where; /* beside it */
	unsigned table_shift;  /* a hash >> this is where to begin */
	uint32_t table_mask;
	uint32_t n_lines;    /* = uses that found no line */
	uint64_t *histogram; /* × room: how many uses found the line at this depth */
	size_t room;
} LodeLineStack;

void lode_line_stack_init(LodeLineStack *self);
void lode_line_stack_clear(LodeLineStack *self);

/* Uses a line that is not where lode_line_stack_use() looks first. */
void lode_line_stack_use_far(LodeLineStack *self, uint64_t line, uint64_t hash);

/* Uses a line: counts the depth at which it was and puts it on top. The caller keeps the number of
 * lines below the limit. */
static inline void lode_line_stack_use(LodeLineStack *self, uint64_t line)
{
	uint64_t hash = lode_near_lines_hash(line);
	unsigned place;

	if (lode_near_lines_find(&self->near, line, hash, &place))
		self->histogram[lode_near_lines_use(&self->near, place)]++;
	else
		lode_line_stack_use_far(self, line, hash);
}
