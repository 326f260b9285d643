/* SPDX-License-Identifier: MIT */
#include "images/stack_memory.h"

void lode_stack_memory_init(LodeStackMemory *self, const uint8_t *dump, size_t size, uint64_t start)
{
	self->dump = dump;
	self->start = start;
	/* an end beyond all addresses is none */
	self->size = dump != NULL && start + size >= start ? size : 0;
	self->n_writes = 0;
}

static bool read_byte(const LodeStackMemory *self, uint64_t address, uint8_t *out_byte)
{
	for (unsigned i = self->n_writes; i-- > 0;) {
		const LodeStackWrite *write = &self->writes[i];

		if (address - write->address >= write->size)
			continue;
		*out_byte = (uint8_t)(write->value >> 8 * (address - write->address));
		return write->is_known;
	}
	if (address - self->start >= self->size)
		return false;
	*out_byte = self->dump[address - self->start];
	return true;
}

bool lode_stack_memory_read(
	const LodeStackMemory *self, uint64_t address, unsigned size, uint64_t *out_value)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++) {
		uint8_t byte;

		if (!read_byte(self, address + i, &byte))
			return false;
		value |= (uint64_t)byte << 8 * i;
	}
	*out_value = value;
	return true;
}

void lode_stack_memory_write(LodeStackMemory *self, const LodeStackWrite *write)
{
	if (self->n_writes == LODE_STACK_MAX_WRITES)
		lode_stack_memory_forget(self);
	self->writes[self->n_writes++] = *write;
}

void lode_stack_memory_forget(LodeStackMemory *self)
{
	self->size = 0;
	self->n_writes = 0;
}
