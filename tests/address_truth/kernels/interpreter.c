/* SPDX-License-Identifier: MIT */
/* A small machine in software: indirect jumps by a table, calls by pointer, a stack, bit fields. */
#include "kernel.h"

typedef enum { PUSH, ADD, MULTIPLY, LOAD, STORE, SWAP, CALL, JUMP_IF, END } Operation;

struct instruction {
	unsigned operation : 8, operand : 24;
};

struct machine {
	struct instruction *code;
	int64_t *memory, *stack;
	size_t mask, depth;
};

typedef int64_t (*Function)(struct machine *self, int64_t value);

static _Thread_local uint64_t n_calls;

static int64_t mix(struct machine *self, int64_t value)
{
	n_calls++;
	return value ^ self->memory[(size_t)value & self->mask];
}

static int64_t halve(struct machine *self, int64_t value)
{
	self->memory[n_calls++ & self->mask]++;
	return value / 2;
}

static const Function functions[2] = {mix, halve};

static int64_t execute(struct machine *self, size_t limit)
{
	int64_t *top = self->stack;
	size_t at = 0;

	for (size_t i = 0; i < limit; i++) {
		const struct instruction now = self->code[at++ & self->mask];
		switch ((Operation)now.operation) {
		case PUSH:
			*++top = now.operand;
			break;
		case ADD:
			top[-1] += top[0];
			top--;
			break;
		case MULTIPLY:
			*top *= now.operand;
			break;
		case LOAD:
			*++top = self->memory[now.operand & self->mask];
			break;
		case STORE:
			self->memory[now.operand & self->mask] = *top--;
			break;
		case SWAP: {
			int64_t other = top[-1];
			top[-1] = top[0];
			top[0] = other;
			break;
		}
		case CALL:
			*top = functions[now.operand & 1](self, *top);
			break;
		case JUMP_IF:
			at += *top & 1 ? now.operand & 3 : 0;
			break;
		case END:
			at = now.operand & self->mask;
			break;
		}
		if (top < self->stack + 2 || top > self->stack + 60)
			top = self->stack + 8;
	}
	return *top;
}

static void kernel_run(Kernel *self)
{
	struct machine machine = {.mask = 1};
	uint32_t state = self->seed;

	while (2 * machine.mask < self->n)
		machine.mask = 2 * machine.mask + 1;
	machine.code = kernel_array(machine.mask + 1, sizeof(*machine.code));
	machine.memory = kernel_array(machine.mask + 1, sizeof(*machine.memory));
	machine.stack = kernel_array(64, sizeof(*machine.stack));
	for (size_t i = 0; i <= machine.mask; i++) {
		machine.code[i].operation = kernel_random(&state) % (END + 1) & 0xff;
		machine.code[i].operand = kernel_random(&state) & 0xffffff;
	}
	for (unsigned round = 0; round < self->rounds; round++)
		self->result += (uint64_t)execute(&machine, 4 * self->n);
}
