/* SPDX-License-Identifier: MIT */
/*
 * The line that was used last of all lines that could share a set with it, for each of them: at the
 * end of the line's number, of as many bits as the shape says.
 */
#pragma once

#include "caches/filter_rules.h"

#include <string.h>

/* No line has this number: lines have 16 bytes at least. */
#define LODE_NO_USED_LINE UINT64_MAX

/* Lines of one kind that were used last; `written` are those among them to which a store changes
 * nothing either, `begun` those of which another use still counts. */
typedef struct {
	uint64_t used[LODE_FILTER_MAX_ENTRIES], written[LODE_FILTER_MAX_ENTRIES],
		begun[LODE_FILTER_MAX_ENTRIES];
} LodeUsedLines;

/* Whether all lines of bytes [first, last] are there. */
static inline bool lode_used_lines_has(
	const LodeUsedLines *self, const LodeFilterShape *shape, uint64_t first, uint64_t last)
{
	for (uint64_t line = first >> shape->shift;; line++) {
		if (self->used[line & shape->mask] != line)
			return false;
		if (line == last >> shape->shift)
			return true;
	}
}

/* What a reference does to the lines that it uses. */
typedef struct {
	bool brings; /* they are there afterwards */
	bool writes; /* and keep what was written */
	bool next;   /* the one behind them may have been brought in */
} LodeLineUse;

static inline void lode_used_lines_note_one(
	LodeUsedLines *self, const LodeFilterShape *shape, uint64_t line, LodeLineUse use)
{
	unsigned at = (unsigned)(line & shape->mask);
	bool was_used = self->used[at] == line, was_begun = self->begun[at] == line;
	bool is_there = use.brings || was_used || was_begun;
	bool is_used = is_there && (was_used || was_begun || !shape->counts_second_use);

	self->begun[at] = is_there && !is_used ? line : LODE_NO_USED_LINE;
	self->used[at] = is_used ? line : LODE_NO_USED_LINE;
	if (self->written[at] != line || !is_used)
		self->written[at] = LODE_NO_USED_LINE;
	if (is_used && use.writes)
		self->written[at] = line;
}

static inline void lode_used_lines_forget(LodeUsedLines *self)
{
	memset(self, 0xff, sizeof(*self));
}

static inline void lode_used_lines_forget_one(
	LodeUsedLines *self, const LodeFilterShape *shape, uint64_t line)
{
	unsigned at = (unsigned)(line & shape->mask);

	self->used[at] = self->written[at] = self->begun[at] = LODE_NO_USED_LINE;
}

/* Bytes [first, last] were used. */
static inline void lode_used_lines_note(LodeUsedLines *self, const LodeFilterShape *shape,
	uint64_t first, uint64_t last, LodeLineUse use)
{
	uint64_t line = first >> shape->shift, last_line = last >> shape->shift;

	for (; line < last_line; line++)
		lode_used_lines_note_one(self, shape, line, use);
	lode_used_lines_note_one(self, shape, last_line, use);
	if (use.next)
		lode_used_lines_forget_one(self, shape, last_line + 1);
}
