/* SPDX-License-Identifier: MIT */
/* Memory of another process, as readers of interpreters' frames see it, built by a test. */
#pragma once

#include "process/interpreters/interpreter.h"

#define FOREIGN_IMAGE_BASE UINT64_C(0x30000000)

typedef struct {
	uint8_t *bytes;
	size_t size;
	uint64_t free;            /* offset from which on nothing lies */
	LodeForeignMemory memory; /* which leads to this image: it must stay where it is */
} ForeignImage;

void foreign_image_init(ForeignImage *self, size_t size, uint64_t free);
void foreign_image_clear(ForeignImage *self);

/* Little-endian, at an offset in the image; a pointer to another offset, and NULL for 0. */
void foreign_image_set(ForeignImage *self, uint64_t offset, uint64_t value, size_t size);
void foreign_image_set_pointer(ForeignImage *self, uint64_t offset, uint64_t target);
uint64_t foreign_image_word(const ForeignImage *self, uint64_t offset);

/* The offset of so many bytes that nothing else has; likewise of a text, with its NUL. */
uint64_t foreign_image_allocate(ForeignImage *self, size_t size);
uint64_t foreign_image_add_text(ForeignImage *self, const char *text);
