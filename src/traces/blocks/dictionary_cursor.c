/* SPDX-License-Identifier: MIT */
#include "traces/blocks/dictionary_cursor.h"

void lode_dictionary_cursor_init(LodeDictionaryCursor *self, const LodeRpsFile *file)
{
	*self = (LodeDictionaryCursor){.file = file};
}

void lode_dictionary_cursor_clear(LodeDictionaryCursor *self)
{
	g_clear_pointer(&self->dictionary, lode_block_dictionary_unref);
}

static void begin_dictionary(LodeDictionaryCursor *self, uint32_t number)
{
	if (self->dictionary != NULL && self->number == number)
		return;
	lode_dictionary_cursor_clear(self);
	self->dictionary = lode_block_dictionary_new();
	self->number = number;
}

static bool add_blocks(
	LodeDictionaryCursor *self, uint64_t frame, LodeFrameUnpacking *unpacking, GError **error)
{
	begin_dictionary(self, lode_rps_file_frame(self->file, frame)->summary.dictionary);
	return lode_frame_unpacking_init(unpacking, self->file, frame, error) &&
	       lode_frame_unpacking_add_blocks(unpacking, self->dictionary, error);
}

/* The first frame that has the frame's dictionary. */
static uint64_t first_of_dictionary(const LodeRpsFile *file, uint64_t frame)
{
	uint32_t number = lode_rps_file_frame(file, frame)->summary.dictionary;

	while (frame > 0 && lode_rps_file_frame(file, frame - 1)->summary.dictionary == number)
		frame--;
	return frame;
}

bool lode_dictionary_cursor_take(
	LodeDictionaryCursor *self, uint64_t frame, LodeFrameUnpacking *unpacking, GError **error)
{
	if (self->dictionary == NULL || frame != self->next) {
		uint64_t first = first_of_dictionary(self->file, frame);

		if (frame < self->next)
			lode_dictionary_cursor_clear(self);
		self->next = self->dictionary == NULL ? first : MAX(self->next, first);
	}
	for (; self->next < frame; self->next++) {
		g_auto(LodeFrameUnpacking) passed = {0};

		if (!add_blocks(self, self->next, &passed, error))
			return false;
	}
	self->next = frame + 1;
	return add_blocks(self, frame, unpacking, error);
}
