/* SPDX-License-Identifier: MIT */
/*
 * Frames of an interpreter in memory that changes while it is read. Each four bytes of the input
 * are a change, made before the next read of memory: place, offset, value, how many bytes and what
 * kind of value.
 */
#pragma once

#include "process/interpreters/interpreter.h"

#include "../unit/process/foreign_image.h"

#include <string.h>

enum { CHANGING_MEMORY_BYTES = 4, CHANGING_MEMORY_LOOKS = 8 };

typedef struct {
	ForeignImage *image;
	const uint64_t *places; /* offsets in the image */
	size_t n_places;
	const uint8_t *changes;
	size_t n_bytes; /* of these */
	unsigned n_reads;
} ChangingMemory;

static inline void changing_memory_change(ChangingMemory *self)
{
	const uint8_t *at = self->changes;
	size_t size = (size_t)1 << (at[3] & 3);
	uint64_t place = self->places[at[0] % self->n_places] + at[1];
	uint64_t other = self->places[at[2] % self->n_places];
	/* an address of the image, in words from a place or at one, or a number */
	uint64_t value = at[3] & 4    ? FOREIGN_IMAGE_BASE + other + at[2] / self->n_places * 8
	                 : at[3] & 8  ? FOREIGN_IMAGE_BASE + other
	                 : at[3] & 16 ? UINT64_MAX - at[2]
	                              : at[2];

	if (place + size <= self->image->size)
		foreign_image_set(self->image, place, value, size);
	self->changes += CHANGING_MEMORY_BYTES;
	self->n_bytes -= CHANGING_MEMORY_BYTES;
}

static inline size_t changing_memory_read(void *data, uint64_t address, void *to, size_t size)
{
	ChangingMemory *self = data;

	if (self->n_bytes >= CHANGING_MEMORY_BYTES && self->n_reads++ % 3 == 0)
		changing_memory_change(self);
	return self->image->memory.read(self->image->memory.data, address, to, size);
}

static inline bool changing_memory_read_parts(void *data, const LodeForeignPart *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (changing_memory_read(data, parts[i].address, parts[i].to, parts[i].size) !=
			parts[i].size)
			return false;
	return true;
}

/* What is told has to be sound, whatever was read. */
static inline void changing_memory_check(
	const LodeScriptLook *look, const GArray *codes, LodeFramesOutcome outcome)
{
	if (look->n_frames > LODE_SCRIPT_MAX_FRAMES)
		g_error("too many frames");
	if (outcome == LODE_FRAMES_FOUND && look->n_frames == 0)
		g_error("frames, and none found");
	if (outcome == LODE_FRAMES_TORN && look->n_frames > 0)
		g_error("frames that are torn");
	for (uint32_t i = 0; i < look->n_frames; i++)
		if (look->frames[i].line < 1 || look->frames[i].line > LODE_SCRIPT_MAX_LINE)
			g_error("a line that is none");
	for (guint i = 0; i < codes->len; i++) {
		const LodeScriptCode *code = &g_array_index(codes, LodeScriptCode, i);
		if (!g_utf8_validate(code->function, -1, NULL) ||
			!g_utf8_validate(code->file, -1, NULL) || code->first_line < 1 ||
			code->last_line < code->first_line ||
			code->last_line > LODE_SCRIPT_MAX_LINE)
			g_error("code that is none");
	}
}

/* Looks at a thread of an interpreter, as `open`, `read` and `close` of its row do; the clock goes
 * on by `step_ns` between looks. */
static inline void changing_memory_look(ChangingMemory *self, const LodeInterpreter *interpreter,
	const uint64_t *symbols, LodeFramesThread thread, uint64_t step_ns)
{
	const LodeForeignMemory memory = {changing_memory_read, self, changing_memory_read_parts};
	g_autoptr(GArray) codes = g_array_new(FALSE, FALSE, sizeof(LodeScriptCode));
	g_autofree LodeScriptLook *look = g_new0(LodeScriptLook, 1);
	uint32_t next_code = 1;
	void *frames = interpreter->open(symbols, &memory, &next_code);

	for (unsigned i = 0; i < CHANGING_MEMORY_LOOKS && frames != NULL; i++) {
		LodeFramesOutcome outcome = interpreter->read(frames, &thread, look, codes);
		changing_memory_check(look, codes, outcome);
		thread.now_ns += step_ns;
	}
	if (frames != NULL)
		interpreter->close(frames);
}
