/* SPDX-License-Identifier: MIT */
#include "snippet_run.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CODE_ADDRESS = 0x20000000,
	STACK_ADDRESS = 0x30000000,
	CODE_BYTES = 4096,
	STACK_BYTES = 65536,
	RED_ZONE = 128,
	ABOUT_WORDS = 256, /* of the stack, above and below where it begins */
	ARITHMETIC_FLAGS = 0x8d5,
	DIRECTION_FLAG = 0x400,
};

typedef struct user_regs_struct Registers;

/* Where it is free at a fixed address, so that what fails fails again. */
static void *map_shared(uintptr_t address, size_t size)
{
	void *memory = mmap((void *)address, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool snippet_run_open(SnippetRun *self, GRand *rand)
{
	int status;

	memset(self, 0, sizeof *self);
	self->rand = rand;
	self->code = map_shared(CODE_ADDRESS, CODE_BYTES);
	self->stack = map_shared(STACK_ADDRESS, STACK_BYTES);
	g_assert_nonnull(self->code);
	g_assert_nonnull(self->stack);
	self->child = fork();
	if (self->child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	return self->child > 0 && waitpid(self->child, &status, 0) == self->child &&
	       WIFSTOPPED(status);
}

void snippet_run_close(SnippetRun *self)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
	if (self->code != NULL)
		munmap(self->code, CODE_BYTES);
	if (self->stack != NULL)
		munmap(self->stack, STACK_BYTES);
}

/* In the order of their encoding. */
static unsigned long long *general(Registers *registers, unsigned number)
{
	unsigned long long *const all[] = {&registers->rax, &registers->rcx, &registers->rdx,
		&registers->rbx, &registers->rsp, &registers->rbp, &registers->rsi, &registers->rdi,
		&registers->r8, &registers->r9, &registers->r10, &registers->r11, &registers->r12,
		&registers->r13, &registers->r14, &registers->r15};

	return all[number];
}

static uint64_t random_value(SnippetRun *self)
{
	uint64_t value = (uint64_t)g_rand_int(self->rand) << 32 | g_rand_int(self->rand);

	/* small ones, and ones like addresses */
	switch (g_rand_int_range(self->rand, 0, 4)) {
	case 0:
		return value & 0xff;
	case 1:
		return value & 0x7fffffffffff;
	default:
		return value;
	}
}

static void set_random(SnippetRun *self, Registers *registers)
{
	for (unsigned i = 0; i < 16; i++)
		*general(registers, i) = random_value(self);
	registers->rsp = (uint64_t)(uintptr_t)(self->stack + STACK_BYTES / 2);
	registers->rbp = registers->rsp + 64;
	registers->rip = (uint64_t)(uintptr_t)self->code;
	registers->eflags = 0x202 | (g_rand_int(self->rand) & ARITHMETIC_FLAGS);
	registers->orig_rax = (unsigned long long)-1; /* no system call to be restarted */
}

static uint64_t address_of(const SnippetInstruction *note, Registers *registers)
{
	uint64_t address = (uint64_t)*general(registers, note->base) +
	                   (uint64_t)(int64_t)note->displacement;

	if (note->index != SNIPPET_NO_REGISTER)
		address += (uint64_t)*general(registers, note->index) * note->scale;
	/* Intel's manual on pop: the address is computed after rsp has been incremented */
	if (note->is_pop && note->base == 4)
		address += 8;
	/* on bt: the bit offset, signed, counts from the operand's first byte in its units */
	if (note->bit_register != SNIPPET_NO_REGISTER) {
		uint64_t raw = *general(registers, note->bit_register);
		int64_t offset = note->bytes == 8   ? (int64_t)raw
		                 : note->bytes == 4 ? (int32_t)raw
		                                    : (int16_t)raw;
		int64_t bits = note->bytes * 8;
		int64_t units = offset / bits - (offset % bits < 0);

		address += (uint64_t)(units * note->bytes);
	}
	return note->has_short_addresses ? address & UINT32_MAX : address;
}

static void note_operand(SnippetStep *step, uint64_t address, uint32_t bytes, uint8_t access)
{
	step->operands[step->n_operands++] = (LodeDataOperand){
		.address = address, .size = bytes, .access = access};
}

static void take_explicit(
	SnippetRun *self, const SnippetInstruction *note, Registers *registers, SnippetStep *step)
{
	note_operand(step, address_of(note, registers), note->bytes, note->access);
	registers->rsp += (unsigned long long)note->stack_change;
	if (note->written != SNIPPET_NO_REGISTER)
		*general(registers, note->written) = random_value(self);
	registers->eflags = (registers->eflags & ~(uint64_t)ARITHMETIC_FLAGS) |
	                    (g_rand_int(self->rand) & ARITHMETIC_FLAGS);
	registers->rip += note->length;
}

/* A repeated one stays where it is until rcx is 0, and may do many elements in one step. */
static void take_string(
	SnippetRun *self, const SnippetInstruction *note, Registers *registers, SnippetStep *step)
{
	uint64_t n = 1, bytes = note->bytes;

	if (note->is_repeated && registers->rcx == 0) {
		registers->rip += note->length;
		return;
	}
	if (note->uses_rdi)
		note_operand(step, registers->rdi, note->bytes, LODE_ACCESS_STORE);
	if (note->uses_rsi)
		note_operand(step, registers->rsi, note->bytes, LODE_ACCESS_LOAD);
	if (note->is_repeated) {
		/* all but the last at once, then that */
		if (registers->rcx > 1 && g_rand_boolean(self->rand))
			n = registers->rcx - 1;
		registers->rcx -= n;
	}
	bytes = registers->eflags & DIRECTION_FLAG ? 0 - bytes : bytes;
	if (note->uses_rdi)
		registers->rdi += n * bytes;
	if (note->uses_rsi)
		registers->rsi += n * bytes;
	if (note->written != SNIPPET_NO_REGISTER)
		registers->rax = random_value(self);
	if (!note->is_repeated || registers->rcx == 0)
		registers->rip += note->length;
}

static void note_stack(const SnippetRun *self, SnippetStep *step, uint64_t pointer)
{
	uint64_t at = pointer - (uint64_t)(uintptr_t)self->stack;

	step->stack_size = at < STACK_BYTES ? MIN(STACK_BYTES - at, SNIPPET_STACK_BYTES) : 0;
	if (step->stack_size > 0)
		memcpy(step->stack, self->stack + at, step->stack_size);
}

static void note_registers(SnippetStep *step, Registers *registers)
{
	for (unsigned i = 0; i < 16; i++)
		step->registers.values[i] = *general(registers, i);
	step->registers.values[LODE_REGISTER_FLAGS] = registers->eflags;
	step->registers.known = (1U << LODE_N_REGISTERS) - 1;
}

static bool run_one(SnippetRun *self, Registers *registers)
{
	int status;

	if (ptrace(PTRACE_SETREGS, self->child, NULL, registers) != 0 ||
		ptrace(PTRACE_SINGLESTEP, self->child, NULL, NULL) != 0 ||
		waitpid(self->child, &status, 0) != self->child || !WIFSTOPPED(status))
		g_error("the traced child is gone");
	g_assert_cmpint(ptrace(PTRACE_GETREGS, self->child, NULL, registers), ==, 0);
	registers->eflags &= ~(uint64_t)0x100;
	return WSTOPSIG(status) == SIGTRAP;
}

static bool take_step(SnippetRun *self, const SnippetInstruction *note, Registers *registers)
{
	SnippetStep *step = &self->steps[self->n];

	memset(step, 0, sizeof *step);
	note_registers(step, registers);
	note_stack(self, step, registers->rsp);
	step->offset = note->address;
	step->is_indirect = note->kind == SNIPPET_INDIRECT;
	self->n++;
	switch (note->kind) {
	case SNIPPET_ACCESS:
		take_explicit(self, note, registers, step);
		return true;
	case SNIPPET_STRING:
		take_string(self, note, registers, step);
		return true;
	default:
		return run_one(self, registers);
	}
}

static uint64_t any_instruction(SnippetRun *self, const Snippet *snippet)
{
	gint32 i = g_rand_int_range(self->rand, 0, (gint32)snippet->n);

	return (uint64_t)(uintptr_t)self->code + snippet->instructions[i].address;
}

/* Returns and jumps by registers are to lead back into the code. */
static void spread_addresses(SnippetRun *self, const Snippet *snippet, Registers *registers)
{
	uint64_t *words = (uint64_t *)(void *)(self->stack + STACK_BYTES / 2);

	for (int i = -ABOUT_WORDS; i < ABOUT_WORDS; i++)
		words[i] = g_rand_boolean(self->rand) ? any_instruction(self, snippet)
		                                      : random_value(self);
	for (unsigned i = 0; i < 16; i++)
		if (i != 4 && i != 5 && g_rand_int_range(self->rand, 0, 4) == 0)
			*general(registers, i) = any_instruction(self, snippet);
}

/* leave and pop may move it: what is pushed elsewhere could change the code. */
static bool is_in_stack(const SnippetRun *self, uint64_t pointer)
{
	return pointer - (uint64_t)(uintptr_t)self->stack - RED_ZONE <
	       STACK_BYTES - 2 * (uint64_t)RED_ZONE;
}

void snippet_run(SnippetRun *self, const Snippet *snippet)
{
	Registers registers;

	memcpy(self->code, snippet->code, sizeof snippet->code);
	g_assert_cmpint(ptrace(PTRACE_GETREGS, self->child, NULL, &registers), ==, 0);
	set_random(self, &registers);
	spread_addresses(self, snippet, &registers);
	self->n = 0;
	while (self->n < SNIPPET_MAX_STEPS) {
		const SnippetInstruction *note = snippet_at(
			snippet, registers.rip - (uint64_t)(uintptr_t)self->code);

		if (note == NULL || !is_in_stack(self, registers.rsp) ||
			!take_step(self, note, &registers))
			break;
	}
}
