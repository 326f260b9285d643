/* SPDX-License-Identifier: MIT */
#include "images/registers/stack_memory.h"

void lode_stack_memory_init(LodeStackMemory *self, const uint8_t *dump, size_t size, uint64_t start)
{
	self->dump = dump;
	self->start = start;
	/* an end beyond all addresses is none */
	self->size = dump != NULL && start + size >= start ? size : 0;
	self->n_writes = 0;
	self->n_expected = 0;
	self->is_past = false;
	self->constants = NULL;
	self->n_constants = 0;
}

static bool is_dumped(const LodeStackMemory *self, uint64_t address)
{
	if (address - self->start >= self->size)
		return false;
	for (unsigned i = 0; i < self->n_expected; i++)
		if (self->expected[i].size == 0 ||
			address - self->expected[i].address < self->expected[i].size)
			return false;
	return true;
}

static bool read_byte(const LodeStackMemory *self, uint64_t address, uint8_t *out_byte)
{
	for (unsigned i = 0; i < self->n_constants; i++) {
		const LodeStackWrite *constant = &self->constants[i];

		if (address - constant->address >= constant->size)
			continue;
		*out_byte = (uint8_t)(constant->value >> 8 * (address - constant->address));
		return true;
	}
	for (unsigned i = self->n_writes; i-- > 0;) {
		const LodeStackWrite *write = &self->writes[i];

		if (address - write->address >= write->size)
			continue;
		if (write->is_known)
			*out_byte = (uint8_t)(write->value >> 8 * (address - write->address));
		return write->is_known;
	}
	if (!is_dumped(self, address))
		return false;
	*out_byte = self->dump[address - self->start];
	return true;
}

static bool read_dump(
	const LodeStackMemory *self, uint64_t address, unsigned size, uint64_t *out_value)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++) {
		if (!is_dumped(self, address + i))
			return false;
		value |= (uint64_t)self->dump[address + i - self->start] << 8 * i;
	}
	*out_value = value;
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

void lode_stack_memory_expect(LodeStackMemory *self, const LodeStackWrite *write)
{
	self->is_past = true;
	self->expected[self->n_expected++] = *write;
}

void lode_stack_memory_write(LodeStackMemory *self, const LodeStackWrite *write)
{
	LodeStackWrite added = *write;

	if (write->size == 0) {
		lode_stack_memory_forget(self);
		return;
	}
	if (self->n_expected > 0)
		self->n_expected--;
	/* what it wrote is what the dump has, unless that was written over again */
	if (self->is_past && !added.is_known && added.size <= sizeof(added.value))
		added.is_known = read_dump(self, added.address, added.size, &added.value);
	if (self->n_writes == LODE_STACK_MAX_WRITES) {
		if (!self->is_past)
			self->size = 0;
		self->n_writes = 0;
	}
	self->writes[self->n_writes++] = added;
}

void lode_stack_memory_forget(LodeStackMemory *self)
{
	self->n_writes = 0;
	if (!self->is_past)
		self->size = 0;
	else if (self->n_expected > 0)
		self->n_expected--;
}
