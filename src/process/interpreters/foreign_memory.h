/* SPDX-License-Identifier: MIT */
/*
 * The memory of another process, which may be gone or change meanwhile.
 *
 * Private to process/interpreters/.
 */
#pragma once

#include "process/interpreters/interpreter.h"

#include <string.h>

static inline bool lode_foreign_read(
	const LodeForeignMemory *self, uint64_t address, void *to, size_t size)
{
	return address != 0 && address <= UINT64_MAX - size &&
	       self->read(self->data, address, to, size) == size;
}

/* 0 also where nothing can be read. */
static inline uint64_t lode_foreign_pointer(const LodeForeignMemory *self, uint64_t address)
{
	uint64_t value;

	return lode_foreign_read(self, address, &value, sizeof(value)) ? value : 0;
}

static inline uint64_t lode_u64_at(const uint8_t *bytes, size_t offset)
{
	uint64_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static inline uint32_t lode_u32_at(const uint8_t *bytes, size_t offset)
{
	uint32_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

/* A text of so many bytes, or up to its NUL; of a longer one the beginning. What is not UTF-8 is
 * replaced. The caller frees it; NULL: it cannot be read. */
char *lode_foreign_text(const LodeForeignMemory *self, uint64_t address, uint64_t size);
