/* SPDX-License-Identifier: MIT */
#include "foreign_image.h"

#include <string.h>

static size_t read_memory(void *data, uint64_t address, void *to, size_t size)
{
	const ForeignImage *self = data;
	uint64_t offset = address - FOREIGN_IMAGE_BASE;

	if (address < FOREIGN_IMAGE_BASE || offset >= self->size)
		return 0;
	size = MIN(size, self->size - offset);
	memcpy(to, self->bytes + offset, size);
	return size;
}

static bool read_parts(void *data, const LodeForeignPart *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (read_memory(data, parts[i].address, parts[i].to, parts[i].size) !=
			parts[i].size)
			return false;
	return true;
}

void foreign_image_init(ForeignImage *self, size_t size, uint64_t free)
{
	*self = (ForeignImage){.bytes = g_malloc0(size),
		.size = size,
		.free = free,
		.memory = {read_memory, self, read_parts}};
}

void foreign_image_clear(ForeignImage *self)
{
	g_clear_pointer(&self->bytes, g_free);
}

void foreign_image_set(ForeignImage *self, uint64_t offset, uint64_t value, size_t size)
{
	g_assert_cmpuint(offset + size, <=, self->size);
	memcpy(self->bytes + offset, &value, size);
}

void foreign_image_set_pointer(ForeignImage *self, uint64_t offset, uint64_t target)
{
	foreign_image_set(self, offset, target != 0 ? FOREIGN_IMAGE_BASE + target : 0, 8);
}

uint64_t foreign_image_word(const ForeignImage *self, uint64_t offset)
{
	uint64_t value;

	g_assert_cmpuint(offset + sizeof(value), <=, self->size);
	memcpy(&value, self->bytes + offset, sizeof(value));
	return value;
}

uint64_t foreign_image_allocate(ForeignImage *self, size_t size)
{
	uint64_t at = self->free;

	self->free += (size + 15) / 16 * 16;
	g_assert_cmpuint(self->free, <=, self->size);
	return at;
}

uint64_t foreign_image_add_text(ForeignImage *self, const char *text)
{
	uint64_t at = foreign_image_allocate(self, strlen(text) + 1);

	strcpy((char *)self->bytes + at, text);
	return at;
}
